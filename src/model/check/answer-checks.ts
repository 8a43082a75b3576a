import type { ModelError } from '../failure.ts';
import type { ModelTool, ToolCall } from '../model.ts';
import { objectOrEmpty, parseOrNone } from '../wire.ts';
import { type Asked, type Diagnosis, reasonOf } from './diagnosis.ts';
import type { ModelCheck, ModelCheckName } from './model-check.ts';
import { serverAdvice, type TestedServer } from './tested-server.ts';

/** The tool that the model is asked to call. */
export const TOOL: ModelTool = {
  name: 'report_status',
  description: 'Reports the status of a test.',
  parameters: {
    type: 'object',
    properties: { status: { type: 'string', enum: ['ready'] } },
    required: ['status'],
    additionalProperties: false,
  },
};

/** Characters of a reason in a sentence. */
const MAX_REASON = 512;

/** Whether the answer arrived piece by piece. */
export function streamingOf({ response }: Asked, server: TestedServer): ModelCheck {
  if (response?.type !== 'application/json') {
    return passed('STREAMING', 'The answer arrives as a stream.');
  }
  return failed(
    'STREAMING',
    'The server sends the answer in one piece, although Parley requests a stream.',
    `Readers see a reply only when it is complete. ${serverAdvice(server, 'Look for a setting of the server, or of a proxy before it, that turns streaming on.')}`,
  );
}

const TOOLS_ADVICE =
  'Bots with tools will not work with this model. vLLM needs --enable-auto-tool-choice and --tool-call-parser, and llama.cpp needs --jinja; otherwise use a model that supports tools.';

/** Whether the model called the tool. @param refusal the failure of a request whose tool the server refuses. */
export function toolsOf({ calls }: Asked, refusal: ModelError | undefined): ModelCheck {
  if (refusal) {
    const message = withReason(
      `The server refuses tools (HTTP ${refusal.status})`,
      reasonOf(refusal),
    );
    return failed('TOOLS', message, TOOLS_ADVICE);
  }
  const call = calls.find((one) => one.name === TOOL.name);
  if (!call) {
    const message = 'The model answered with text and did not call the tool of the test.';
    return failed('TOOLS', message, TOOLS_ADVICE);
  }
  if (hasStatus(call.arguments)) return passed('TOOLS', 'The model calls tools.');
  return failed('TOOLS', 'The model called the tool with arguments that do not fit.', TOOLS_ADVICE);
}

const OUTPUT_ADVICE = 'Definitions with an `output` block need another model.';

/** Whether the model answered with the JSON object. @param failure why the request failed. */
export function outputOf({ text, finish }: Asked, failure: Diagnosis | undefined): ModelCheck {
  if (failure) {
    const message = withReason(`The request for JSON failed: ${failure.message}`, failure.detail);
    return failed('JSON_OUTPUT', message, OUTPUT_ADVICE);
  }
  const [json = ''] = /\{.*\}/s.exec(text) ?? [];
  if (!hasStatus(json)) {
    return failed('JSON_OUTPUT', 'The model did not answer with the JSON object.', OUTPUT_ADVICE);
  }
  const isPlain = finish?.leftOut?.includes('response_format') ?? false;
  return passed(
    'JSON_OUTPUT',
    isPlain
      ? 'The model answers with JSON, although the server takes no JSON schema.'
      : 'The model answers with JSON.',
  );
}

function hasStatus(json: ToolCall['arguments']): boolean {
  return typeof objectOrEmpty(parseOrNone(json)).status === 'string';
}

/** Whether the server reported its tokens. */
export function usageOf({ finish }: Asked, server: TestedServer): ModelCheck {
  if (!finish?.usage) {
    return failed(
      'USAGE',
      'The server reports no token usage.',
      `The tokens of runs are estimates. ${serverAdvice(server, 'Look for a setting of the server that reports usage in streams (`stream_options.include_usage`).')}`,
    );
  }
  const { promptTokens, completionTokens, reasoningTokens } = finish.usage;
  const reasoning = reasoningTokens ? `, of which ${reasoningTokens} are reasoning` : '';
  return passed(
    'USAGE',
    `The server reports its tokens: ${promptTokens} of the prompt, ${completionTokens} of the answer${reasoning}.`,
  );
}

/** The other form of a member that has one. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};
/** What Parley sends without a setting of the definition. */
const OWN_MEMBERS = ['stream_options', 'tool_choice'];

/** Reports the members that the server refuses. The check fails only if a definition sets one of them. */
export function parametersOf(all: Asked[]): ModelCheck {
  const names = new Set(all.flatMap(({ finish }) => finish?.leftOut ?? []));
  names.delete('response_format');
  if (names.size === 0) {
    return passed('PARAMETERS', 'The server refuses none of the settings in the requests.');
  }
  const renamed = [...names].filter((name) => name in OTHER_FORMS);
  const left = [...names].filter((name) => !(name in OTHER_FORMS));
  const sentences = renamed.map(
    (name) => `The server refuses \`${name}\`, so Parley sends \`${OTHER_FORMS[name]}\`.`,
  );
  if (left.length > 0) {
    const list = left.map((name) => `\`${name}\``).join(', ');
    sentences.push(
      `The server refuses ${list}, so Parley leaves ${left.length === 1 ? 'it' : 'them'} out.`,
    );
  }
  const message = sentences.join(' ');
  if (left.every((name) => OWN_MEMBERS.includes(name))) return passed('PARAMETERS', message);
  return failed(
    'PARAMETERS',
    message,
    'In definitions, such a setting has no effect with this model.',
  );
}

/** Appends what a server answered to a sentence. */
export function withReason(sentence: string, detail: string | undefined): string {
  const text = sentence.replace(/\.$/, '');
  return detail ? `${text}: ${detail.slice(0, MAX_REASON).toWellFormed()}` : `${text}.`;
}

export function passed(name: ModelCheckName, message: string): ModelCheck {
  return { name, status: 'PASSED', message };
}

export function failed(name: ModelCheckName, message: string, advice: string): ModelCheck {
  return { name, status: 'FAILED', message, advice };
}
