import type { JsonObject } from '../text/json.ts';
import { isJsonObject } from '../text/json.ts';
import { callsAsText } from './calls-as-text.ts';
import type { RequestForm } from './form.ts';
import { type WireMessage, writeMessages } from './messages.ts';
import type { ModelRequest, ModelTool } from './model.ts';
import { isRefused, refusalOf, withoutRefused } from './refusals.ts';

/** The body of a request. */
export type RequestBody = {
  model: string;
  messages: WireMessage[];
  response_format?: { type: string } | undefined;
} & Record<string, unknown>;

/** Writes a request in the form that its server accepts. The answer is always streamed. */
export function writeBody(request: ModelRequest, form: RequestForm): RequestBody {
  const { model, messages, toolChoice, temperature, maxTokens, outputSchema } = request;
  const optional = withoutRefused(
    {
      ...request.parameters,
      temperature,
      reasoning_effort: writeEffort(request, form),
      stream_options: { include_usage: true },
      tool_choice: request.tools.length > 0 ? toolChoice : undefined,
    },
    form.refusals,
  );
  // A server that refuses `tool_choice` would let the model call the tools.
  const tools = optional.tool_choice === toolChoice ? request.tools : [];
  const isText = tools.length === 0 && form.callsWithoutTools === 'text';
  return {
    ...optional,
    model,
    messages: writeMessages(isText ? callsAsText(messages) : messages, form),
    ...(tools.length > 0 && { tools: tools.map(writeTool) }),
    response_format: outputSchema && outputFormat(outputSchema, form),
    [form.tokenLimit]: maxTokens,
    stream: true,
  };
}

/**
 * Names the members that the server refused: Parley left them out of the body, or sent them in another form.
 *
 * @param tokenLimit the name of the token limit before the server refused it.
 */
export function leftOutOf(
  request: ModelRequest,
  body: RequestBody,
  tokenLimit: RequestForm['tokenLimit'],
): string[] | undefined {
  const { temperature, reasoningEffort, tools, toolChoice, outputSchema, parameters } = request;
  const set = {
    temperature,
    reasoning_effort: reasoningEffort,
    tool_choice: tools.length > 0 ? toolChoice : undefined,
    parallel_tool_calls: parameters?.parallel_tool_calls,
    [tokenLimit]: request.maxTokens,
  };
  const names = Object.entries(set).flatMap(([name, value]) =>
    value !== undefined && body[name] !== value ? [name] : [],
  );
  if (body.stream_options === undefined) names.push('stream_options');
  const hasSchema = body.response_format?.type === 'json_schema';
  if (outputSchema && !hasSchema) names.push('response_format');
  return names.length > 0 ? names : undefined;
}

function writeEffort({ tools, reasoningEffort }: ModelRequest, form: RequestForm) {
  return form.toolsWithoutReasoning && tools.length > 0 ? 'none' : reasoningEffort;
}

function writeTool(tool: ModelTool) {
  return { type: 'function', function: { ...tool, parameters: writeSchema(tool.parameters) } };
}

/** Several servers refuse an object that may have no members. */
function writeSchema({ additionalProperties, ...schema }: JsonObject): JsonObject {
  const { properties } = schema;
  const isEmpty = isJsonObject(properties) && Object.keys(properties).length === 0;
  if (isEmpty && additionalProperties === false) return { ...schema };
  return additionalProperties === undefined ? schema : { ...schema, additionalProperties };
}

/**
 * The first form of a structured answer that the server does not refuse. OpenAI's structured outputs are requested without
 * the strict mode, which does not know all of JSON Schema. The prompt holds the schema, too.
 */
function outputFormat(schema: JsonObject, { refusals }: RequestForm) {
  const formats = [
    { type: 'json_schema', json_schema: { name: 'output', schema } },
    { type: 'json_object' },
  ];
  return formats.find(
    (format) =>
      refusals.length === 0 ||
      !isRefused(refusals, refusalOf('response_format', { response_format: format })),
  );
}
