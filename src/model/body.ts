import type { JsonObject } from '../json.ts';
import { isJsonObject } from '../json.ts';
import type { RequestForm } from './learned.ts';
import { type WireMessage, writeMessages } from './messages.ts';
import type { ModelRequest, ModelTool } from './model.ts';

/** The body of a request. */
export type RequestBody = { model: string; messages: WireMessage[] } & Record<string, unknown>;

/** Writes a request in the form that its server accepts. The answer is always streamed. */
export function writeBody(request: ModelRequest, form: RequestForm): RequestBody {
  const { model, messages, tools, toolChoice, temperature, maxTokens, outputSchema } = request;
  const optional = {
    ...request.parameters,
    temperature,
    reasoning_effort: writeEffort(request, form),
    stream_options: { include_usage: true },
    tool_choice: tools.length > 0 ? toolChoice : undefined,
  };
  return {
    ...without(optional, form.leftOut),
    model,
    messages: writeMessages(messages, form),
    ...(tools.length > 0 && { tools: tools.map(writeTool) }),
    response_format: outputSchema && outputFormat(outputSchema, form.output),
    [form.tokenLimit]: maxTokens,
    stream: true,
  };
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

/** OpenAI's structured outputs, without the strict mode, which does not know all of JSON Schema. */
function outputFormat(schema: JsonObject, form: RequestForm['output']) {
  switch (form) {
    case 'json_schema':
      return { type: 'json_schema', json_schema: { name: 'output', schema } };
    case 'json_object':
      return { type: 'json_object' };
    case 'none':
      return undefined;
  }
}

function without<Members extends object>(members: Members, names: readonly string[]) {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
