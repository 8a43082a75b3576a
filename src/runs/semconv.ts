/**
 * Names of OpenTelemetry's semantic conventions, as of version 1.45.0. Those for generative AI are unstable, and the
 * package that has them asks to copy what is used rather than to import it. A test holds them to that package.
 * Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export const ATTRIBUTE = {
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  conversationId: 'gen_ai.conversation.id',
  errorType: 'error.type',
  finishReasons: 'gen_ai.response.finish_reasons',
  httpStatus: 'http.response.status_code',
  inputTokens: 'gen_ai.usage.input_tokens',
  maxTokens: 'gen_ai.request.max_tokens',
  operation: 'gen_ai.operation.name',
  outputTokens: 'gen_ai.usage.output_tokens',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  stream: 'gen_ai.request.stream',
  temperature: 'gen_ai.request.temperature',
  /** Seconds. */
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  toolCallId: 'gen_ai.tool.call.id',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
} as const;

/** The values of `gen_ai.operation.name`, which are also how the names of such spans begin. */
export const OPERATION = {
  chat: 'chat',
  executeTool: 'execute_tool',
  invokeAgent: 'invoke_agent',
} as const;

/** The value of `gen_ai.provider.name`: the wire format that every model of ours speaks, whoever serves it. */
export const PROVIDER = 'openai';

/** What the conventions have no name for. */
export const OWN_ATTRIBUTE = {
  runId: 'parley.run.id',
  environment: 'parley.environment',
  channel: 'parley.channel',
  historyMessages: 'parley.history.messages',
  memoryFacts: 'parley.memory.facts',
  contextKeys: 'parley.context.keys',
  /** The first 20 that servers of tools should have and do not: `<group>.*` where one could not be reached, else `<group>.<tool>`. */
  toolsMissing: 'parley.tools.missing',
  /** How many tools servers offer beyond the limits, or broken. */
  toolsLeftOut: 'parley.tools.left_out',
  /** How many calls of an answer exceed the definition's `tool_calls`: they have no span and no events. */
  toolCallsRefused: 'parley.tool_calls.refused',
  /** The first 20 dotted paths of what a template was to place, and there was neither a value nor a default. */
  templateMissing: 'parley.template.missing',
  /** `true` where the tokens are not what the model's server counted. */
  tokensEstimated: 'parley.usage.estimated',
} as const;
