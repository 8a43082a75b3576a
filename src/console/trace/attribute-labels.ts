import { duration } from '../parts/time.tsx';

const NAMES = new Map(
  Object.entries({
    'error.type': 'Error',
    'gen_ai.agent.id': 'Bot',
    'gen_ai.agent.name': 'Agent',
    'gen_ai.agent.version': 'Deployment',
    'gen_ai.conversation.id': 'Session',
    'gen_ai.operation.name': 'Operation',
    'gen_ai.provider.name': 'Provider',
    'gen_ai.request.max_tokens': 'Maximum of generated tokens',
    'gen_ai.request.model': 'Requested model',
    'gen_ai.request.stream': 'Streamed',
    'gen_ai.request.temperature': 'Temperature',
    'gen_ai.response.finish_reasons': 'Finish reason',
    'gen_ai.response.model': 'Model that answered',
    'gen_ai.response.time_to_first_chunk': 'First text after',
    'gen_ai.tool.call.id': 'Id of the call',
    'gen_ai.tool.name': 'Tool',
    'gen_ai.tool.type': 'Type of tool',
    'gen_ai.usage.cache_read.input_tokens': 'Cached tokens in',
    'gen_ai.usage.input_tokens': 'Tokens in',
    'gen_ai.usage.output_tokens': 'Tokens out',
    'gen_ai.usage.reasoning.output_tokens': 'Tokens of reasoning',
    'http.response.status_code': 'HTTP status',
    'parley.channel': 'Channel',
    'parley.client': 'Client',
    'parley.context.keys': 'Keys of the context',
    'parley.entrance': 'Entrance',
    'parley.environment': 'Environment',
    'parley.history.messages': 'Messages of history',
    'parley.memory.facts': 'Facts remembered',
    'parley.model.attempts': 'Requests to the model’s server',
    'parley.request.left_out': 'Refused by the model’s server',
    'parley.response.parts_ignored': 'Ignored parts',
    'parley.response.reasoning_length': 'Characters of reasoning',
    'parley.run.id': 'Run',
    'parley.template.missing': 'Missing in the template',
    'parley.tool_calls.refused': 'Refused tool calls',
    'parley.tools.left_out': 'Tools left out',
    'parley.tools.missing': 'Missing tools',
    'parley.usage.estimated': 'Tokens are estimates',
    'server.address': 'Host',
  }),
);

/** An attribute of a span as text. A name without a text, which may be from another system, stays as it is. */
export function attributeLabel(name: string, value: unknown): { name: string; value: string } {
  return { name: NAMES.get(name) ?? name, value: valueWords(name, value) };
}

function valueWords(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number')
    return name === 'gen_ai.response.time_to_first_chunk'
      ? duration(value * 1_000)
      : value.toLocaleString('en');
  if (Array.isArray(value)) return value.map(String).join(', ') || 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
