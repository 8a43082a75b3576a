/**
 * Attribute names of the OpenTelemetry semantic conventions, version 1.45.0. The names for generative AI are unstable,
 * and their package asks users to copy them instead of importing them. A test compares them with that package.
 * Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export const ATTRIBUTE = {
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  cachedTokens: 'gen_ai.usage.cache_read.input_tokens',
  conversationId: 'gen_ai.conversation.id',
  errorType: 'error.type',
  finishReasons: 'gen_ai.response.finish_reasons',
  httpStatus: 'http.response.status_code',
  inputTokens: 'gen_ai.usage.input_tokens',
  maxTokens: 'gen_ai.request.max_tokens',
  operation: 'gen_ai.operation.name',
  outputTokens: 'gen_ai.usage.output_tokens',
  provider: 'gen_ai.provider.name',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  serverAddress: 'server.address',
  stream: 'gen_ai.request.stream',
  temperature: 'gen_ai.request.temperature',
  /** Seconds. */
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  toolCallId: 'gen_ai.tool.call.id',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
} as const;

/** The values of `gen_ai.operation.name`. A span's name starts with its operation. */
export const OPERATION = {
  chat: 'chat',
  executeTool: 'execute_tool',
  invokeAgent: 'invoke_agent',
} as const;

/** Attributes that the conventions do not define. */
export const OWN_ATTRIBUTE = {
  runId: 'parley.run.id',
  environment: 'parley.environment',
  channel: 'parley.channel',
  entrance: 'parley.entrance',
  /** The first product of the request's `User-Agent` header. */
  client: 'parley.client',
  historyMessages: 'parley.history.messages',
  memoryFacts: 'parley.memory.facts',
  contextKeys: 'parley.context.keys',
  /** The first 20 missing tools: `<group>.*` if the tool server is unreachable, else `<group>.<tool>`. */
  toolsMissing: 'parley.tools.missing',
  /** How many tools of tool servers are left out because they exceed a limit or are malformed. */
  toolsLeftOut: 'parley.tools.left_out',
  /** How many requests a model call needed, if more than one. */
  modelAttempts: 'parley.model.attempts',
  /** Members of the request that the model's server refuses: they were left out or sent in another form. */
  requestLeftOut: 'parley.request.left_out',
  /** Characters of reasoning in a response. */
  reasoningLength: 'parley.response.reasoning_length',
  /** The kinds of parts that were left out of a response: `image`, `audio`, `other`. */
  partsIgnored: 'parley.response.parts_ignored',
  /** How many tool calls of a response exceed the definition's `tool_calls`. They have no span and no events. */
  toolCallsRefused: 'parley.tool_calls.refused',
  /** The id of the call's record, `tcl_…`. */
  toolCallRecord: 'parley.tool_call.id',
  /** The first 20 dotted paths in a template that had neither a value nor a default. */
  templateMissing: 'parley.template.missing',
  /** `true` if the model's server reported no usage, so that the counts are estimates. */
  tokensEstimated: 'parley.usage.estimated',
} as const;
