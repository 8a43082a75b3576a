import type { ModelError } from '../failure.ts';
import type { ModelEvent, ToolCall } from '../model.ts';
import { connectionProblem } from './connection-problem.ts';
import type { ModelCheckName } from './model-check.ts';
import { serverAdvice, type TestedServer } from './tested-server.ts';

/** What is known of one call of the model. */
export type Asked = {
  text: string;
  calls: ToolCall[];
  finish?: Extract<ModelEvent, { type: 'finish' }>;
  failure?: ModelError;
  /** The last response: its status, and its media type in lower case. */
  response?: { status: number; type: string };
};

/** The check that fails, why, and what to do. */
export type Diagnosis = {
  name: ModelCheckName;
  message: string;
  advice: string;
  /** What the server answered. */
  detail?: string | undefined;
};

type About = TestedServer & {
  modelName: string;
  /** Whether the operator's default model was asked. */
  isDefault: boolean;
  limitMs: number;
};

/** Finds the cause of a failed call. @returns `undefined` if the call did not fail. */
export function diagnose(asked: Asked, about: About): Diagnosis | undefined {
  const { failure } = asked;
  if (!failure) return undefined;
  const found = diagnosisOf(failure, asked, about);
  // A definition can change the model's name and its reasoning also at the operator's server.
  const isOfDefinition =
    (found.name === 'MODEL' && !about.isDefault) || failure.reason === 'max_tokens';
  return isOfDefinition ? found : { ...found, advice: serverAdvice(about, found.advice) };
}

function diagnosisOf(failure: ModelError, { response, text }: Asked, about: About): Diagnosis {
  const { reason } = failure;
  if (reason === 'timeout') return timedOut(response, text, about);
  if (reason === 'unreachable') {
    return { name: 'REACHABLE', ...connectionProblem(failure.cause, about) };
  }
  if (response?.type === 'text/html') return webPage(response.status, about);
  const { status } = failure;
  const detail = reasonOf(failure);
  const found =
    status === undefined || reason === 'reported'
      ? undefined
      : refused(status, detail ?? '', about);
  return { ...(found ?? unusable(failure, response, about)), detail };
}

/** What the server answered, without the status, which the sentence names. */
export function reasonOf({ detail }: ModelError): string | undefined {
  return detail?.replace(/^HTTP \d{3}(: )?/, '') || undefined;
}

function timedOut(response: Asked['response'], text: string, about: About): Diagnosis {
  const { name, baseUrl, limitMs } = about;
  const limit = `${limitMs / 1_000} seconds`;
  if (!response) {
    return {
      name: 'REACHABLE',
      message: `${name} did not answer within ${limit}.`,
      advice: `Check the host and the port in ${baseUrl}, and the firewalls on the way. A server that is still loading the model needs longer: see its log, then test again.`,
    };
  }
  const what = text === '' ? 'sent no answer' : 'did not end its answer';
  return {
    name: 'STREAMING',
    message: `${name} accepted the request, but ${what} within ${limit}.`,
    advice:
      'See the log of the model server: it may be overloaded, or still loading the model. A proxy before it may hold back the stream: turn off its buffering.',
  };
}

function webPage(status: number, { name, baseUrl }: About): Diagnosis {
  const isGateway = status >= 500;
  return {
    name: 'REACHABLE',
    message: `${name} answers with a web page (HTTP ${status}), not as a model server.`,
    advice: isGateway
      ? 'A proxy answers, because the model server behind it does not. Start the model server, and check the address to which the proxy forwards.'
      : `Check ${baseUrl}: most addresses end in /v1. If it is right, a proxy or a sign-in page answers in place of the model server.`,
  };
}

/** An answer with a status that says what is wrong. */
function refused(status: number, detail: string, about: About): Diagnosis | undefined {
  const { name, baseUrl, apiKey, model, modelName, hasKey, owner } = about;
  const isOfModel = /\bmodel\b|deployment/i.test(detail);
  if (status === 403 && isOfModel) {
    return {
      name: 'MODEL',
      message: `${name} does not allow the model "${modelName}" for this key (HTTP 403).`,
      advice: `Allow the model for the project of the key at the provider, or set another one in ${model}.`,
    };
  }
  if (status === 401 || status === 403) {
    const isAzure = /subscription key/i.test(detail);
    const other = isAzure ? ` ${AZURE_ADVICE[owner]}` : '';
    return {
      name: 'API_KEY',
      message: hasKey
        ? `${name} refuses the API key (HTTP ${status}).`
        : `${name} requires an API key (HTTP ${status}).`,
      advice: hasKey
        ? `Check that the key in ${apiKey} is complete, is not revoked, and belongs to this provider.${other}`
        : `Set ${apiKey}.`,
    };
  }
  if (status === 402 || status === 429) {
    return {
      name: 'API_KEY',
      message: `${name} accepts no more requests with this key (HTTP ${status}).`,
      advice: 'Check the credit, the quota and the rate limits of the key at the provider.',
    };
  }
  if (isUnknownModel(status, detail)) {
    return {
      name: 'MODEL',
      message: `${name} does not know the model "${modelName}" (HTTP ${status}).`,
      advice: `Check the spelling in ${model}, and that the server has the model. Ollama lists its models with: ollama list.`,
    };
  }
  if (status === 404 || status === 405) {
    return {
      name: 'REACHABLE',
      message: `${name} has no chat completions at this address (HTTP ${status}).`,
      advice: `Check the path in ${baseUrl}, to which Parley adds /chat/completions: most addresses end in /v1.`,
    };
  }
  if (status < 400) {
    return {
      name: 'REACHABLE',
      message: `${name} redirects to another address (HTTP ${status}).`,
      advice: `Put that address into ${baseUrl}, often https: in place of http:.`,
    };
  }
  return undefined;
}

/** Azure's older addresses take the key in a header of their own. */
const AZURE_ADVICE: Record<TestedServer['owner'], string> = {
  operator: 'Azure wants the key in a header: set OPENAI_AUTH_HEADER=api-key.',
  definition: 'Azure takes the key at addresses that end in /openai/v1.',
};

function isUnknownModel(status: number, detail: string): boolean {
  if (status === 404) return /\bmodel\b|deployment/i.test(detail);
  if (status !== 400 && status !== 422) return false;
  const unknown =
    /not (a )?(found|exist|supported|available|valid)|invalid|unknown|no such|unsupported/i;
  return /\bmodel\b/i.test(detail) && unknown.test(detail);
}

/** A failure that only the model server can explain. */
function unusable(failure: ModelError, response: Asked['response'], about: About): Diagnosis {
  const { reason, status } = failure;
  const { name } = about;
  const advice = 'See the log or the status page of the model server, then test again.';
  if (reason === 'max_tokens') {
    return {
      name: 'STREAMING',
      message: `${name} used all tokens of the test for reasoning.`,
      advice:
        'Set `reasoning none` or `reasoning low` in the model’s block of definitions, or turn off reasoning at the server.',
    };
  }
  if (reason === 'content_filter') {
    const message = `A content filter of ${lowerFirst(name)} removed the answer.`;
    return { name: 'STREAMING', message, advice: 'Check the content filter of the model.' };
  }
  if (reason === 'reported') {
    return { name: 'STREAMING', message: `${name} reported an error in its answer.`, advice };
  }
  if (reason === 'incomplete' || reason === 'invalid') {
    return {
      name: 'STREAMING',
      message: `${name} answered (HTTP ${response?.status ?? 200}), but its stream ended without a complete answer.`,
      advice: `${advice} If the log shows a whole answer, a proxy between cuts the stream.`,
    };
  }
  if (status !== undefined) {
    const isServers = status >= 500;
    return {
      name: 'STREAMING',
      message: isServers
        ? `${name} failed (HTTP ${status}).`
        : `${name} refuses the request (HTTP ${status}).`,
      advice,
    };
  }
  return { name: 'STREAMING', message: `${name} sent an answer that cannot be used.`, advice };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
