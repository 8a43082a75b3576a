import {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  ParleyError,
  PermissionError,
  RateLimitError,
  RunError,
} from '../client/index.ts';
import type { Environment } from './environment.ts';
import { Refusal, systemCode } from './errors.ts';

/** The explanation of a failure and its remedy, in one line for each problem. */
export function describeError(error: unknown, environment: Environment): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof ParleyError) return describeAnswer(error, environment);
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return 'The output cannot be written: the disk is full.';
    case 'EIO':
    case 'EBADF':
      return 'The output cannot be written: the stream is closed.';
  }
  const message = error instanceof Error ? error.message : String(error);
  return `${message.split('\n')[0]} This is a defect of the command.`;
}

function describeAnswer(error: ParleyError, { apiKey }: Environment): string {
  const request = error.requestId ? ` (request ${error.requestId})` : '';
  if (error instanceof ConnectionError)
    return `${error.message.replace(/\.$/, '')}${causeOf(error)}. Is the server running? parley doctor checks a local one.`;
  if (error instanceof AuthenticationError || error.code.endsWith('_api_key')) {
    const source = apiKey === undefined ? 'Run parley login.' : 'Check PARLEY_API_KEY.';
    return `The server refuses the API key. ${source}`;
  }
  if (error instanceof PermissionError || error.code === 'insufficient_scope')
    return `${sentence(error.message)} Use a key that has it: parley whoami shows the scopes.`;
  if (error instanceof RateLimitError)
    return `${sentence(error.message)} Try again in ${error.retryAfter} s.`;
  if (error instanceof RunError)
    return `The run failed: ${sentence(error.message)}${error.runId ? ` Run parley trace ${error.runId} for details.` : ''}`;
  if (error instanceof InvalidRequestError && error.details.length > 0)
    return error.details.map(({ path, message }) => `${path} ${message}`.trim()).join('\n');
  if (error.code === 'bot_not_deployed')
    return 'The bot has no deployment in this environment. Deploy one: parley deploy FILE.';
  return `${sentence(error.message)}${request}`;
}

const sentence = (message: string) => (/[.!?]$/.test(message) ? message : `${message}.`);

/** Why the network failed, such as ` (ECONNREFUSED)`. */
function causeOf({ cause }: Error): string {
  const inner = cause instanceof Error ? cause.cause : undefined;
  const code = systemCode(inner) ?? systemCode(cause);
  if (code) return ` (${code})`;
  if (inner instanceof Error) return ` (${inner.message})`;
  return cause instanceof Error && cause.name === 'TimeoutError' ? ' (no answer in time)' : '';
}
