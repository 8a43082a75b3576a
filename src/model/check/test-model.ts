import { startDeadline } from '../../async/deadline.ts';
import type { JsonObject } from '../../text/json.ts';
import { ModelError } from '../failure.ts';
import type { Model, ModelEvent, ModelRequest } from '../model.ts';
import {
  failed,
  outputOf,
  parametersOf,
  passed,
  streamingOf,
  TOOL,
  toolsOf,
  usageOf,
  withReason,
} from './answer-checks.ts';
import { type Asked, type Diagnosis, diagnose } from './diagnosis.ts';
import { MODEL_CHECKS, type ModelCheck, type ModelCheckName } from './model-check.ts';
import type { TestedServer } from './tested-server.ts';

/** The settings of requests that a server may refuse. */
export type TestedSettings = Pick<ModelRequest, 'temperature' | 'reasoningEffort' | 'parameters'>;

export type ModelTestOptions = {
  /** The model to ask, as a definition names it; the default one if omitted. */
  name?: string | undefined;
  /** The settings of the requests; `temperature` 0 if omitted. */
  settings?: TestedSettings | undefined;
  server: TestedServer;
  /** Milliseconds for the whole test, 20 seconds by default. */
  limitMs?: number;
};

const LIMIT_MS = 20_000;
/** The limit of tokens, and the limit for a model that uses up the first one by its reasoning. */
const MAX_TOKENS = [64, 1_024];

const QUESTION = `Call the tool ${TOOL.name} with the status "ready".`;

const OUTPUT: JsonObject = {
  type: 'object',
  properties: { status: { type: 'string' } },
  required: ['status'],
  additionalProperties: false,
};
const JSON_QUESTION = 'Answer with this JSON object only: {"status": "ready"}';

/**
 * Tests a model server with a short question with one tool, and a second one for a JSON answer. A model that does not
 * take tools gets the question without them. Chats send the same requests, so what the server refuses is learned.
 *
 * @param signal aborts the test, which then throws its reason.
 * @returns all checks, in order. After a failure of one of the first four, all later ones are skipped.
 */
export async function testModel(
  model: Model,
  { name, settings = { temperature: 0 }, server, limitMs = LIMIT_MS }: ModelTestOptions,
  signal: AbortSignal,
): Promise<ModelCheck[]> {
  if (model.server?.host === '') return checksAfter(wrongAddress(server));
  using deadline = startDeadline(limitMs, { signal });
  const startedAt = performance.now();
  const wireName = model.nameFor(name);
  const ask = async (question: Partial<ModelRequest> & { content: string }) => {
    const { content, ...rest } = question;
    const request = (maxTokens: number): ModelRequest => ({
      model: wireName,
      messages: [{ role: 'user', content }],
      tools: [],
      ...settings,
      ...rest,
      maxTokens,
      timeout: Math.max(1, limitMs - (performance.now() - startedAt)),
    });
    let asked: Asked = { text: '', calls: [] };
    for (const maxTokens of MAX_TOKENS) {
      asked = await askOnce(model, request(maxTokens), deadline.signal);
      if (signal.aborted) throw signal.reason;
      if (!isSpent(asked)) break;
    }
    return asked;
  };

  const withTool = await ask({ content: QUESTION, tools: [TOOL] });
  const refusal = refusalOfTools(withTool);
  const first = refusal === undefined ? withTool : await ask({ content: 'Say "ready".' });
  const about = { ...server, modelName: wireName, isDefault: name === undefined, limitMs };
  const failed = diagnose(first, about);
  if (failed) return checksAfter(failed);
  const second = await ask({ content: JSON_QUESTION, outputSchema: OUTPUT });
  return [
    passed('REACHABLE', `${server.name} answers.`),
    passed('API_KEY', server.hasKey ? 'The server accepts the API key.' : 'No key is needed.'),
    passed('MODEL', `The server knows the model "${wireName}".`),
    streamingOf(first, server),
    toolsOf(first, refusal),
    outputOf(second, diagnose(second, about)),
    usageOf(first, server),
    parametersOf([first, second]),
  ];
}

function wrongAddress({ baseUrl }: TestedServer): Diagnosis {
  const message = 'The address of the model server is not a URL with http: or https:.';
  return { name: 'REACHABLE', message, advice: `Correct ${baseUrl}.` };
}

/** One call of the model, with its events and its failure. */
async function askOnce(model: Model, request: ModelRequest, signal: AbortSignal): Promise<Asked> {
  const asked: Asked = { text: '', calls: [] };
  const onEvent = (event: ModelEvent) => {
    if (event.type === 'text-delta') asked.text += event.text;
    else if (event.type === 'tool-call') asked.calls.push(event.call);
    else asked.finish = event;
  };
  const onResponse: ModelRequest['onResponse'] = ({ status, headers }) => {
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    asked.response = { status, type: type.trim().toLowerCase() };
  };
  try {
    await model.stream({ ...request, onResponse }, onEvent, signal);
    // An aborted call ends without an event.
    if (!asked.finish) asked.failure = new ModelError('model_timeout', 'timeout', '');
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    asked.failure = error;
  }
  return asked;
}

/** Whether the limit of tokens ended the answer, which reasoning often causes. */
function isSpent({ failure, finish }: Asked): boolean {
  return failure?.reason === 'max_tokens' || finish?.reason === 'length';
}

/** The statuses with which servers refuse tools. */
const REFUSALS: readonly (number | undefined)[] = [400, 404, 422, 500, 501];

/** The failure of a request whose tool the server refuses. */
function refusalOfTools({ failure }: Asked): ModelError | undefined {
  const isOfTools = /\b(tools?|functions?)\b|tool[-_]/i.test(failure?.detail ?? '');
  return isOfTools && REFUSALS.includes(failure?.status) ? failure : undefined;
}

/** The checks of a test that ends with a failed one. */
export function checksAfter({ name, message, advice, detail }: Diagnosis): ModelCheck[] {
  const failedAt = MODEL_CHECKS.indexOf(name);
  return MODEL_CHECKS.map((check, index) => {
    if (index < failedAt) return passed(check, BEFORE[check] ?? '');
    if (check === name) return failed(check, withReason(message, detail), advice);
    const reason = 'Not checked, because an earlier check failed.';
    return { name: check, status: 'SKIPPED', message: reason };
  });
}

/** The sentences of checks before the one that failed. */
const BEFORE: Partial<Record<ModelCheckName, string>> = {
  REACHABLE: 'The server answers.',
  API_KEY: 'The server did not refuse the API key.',
  MODEL: 'The server did not refuse the model.',
};
