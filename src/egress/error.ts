import { errors } from 'undici';

/** Redirects that one exchange follows. */
export const MAX_REDIRECTS = 3;

const MESSAGES = {
  'invalid-url': 'The URL must use http: or https: and must not contain a user name or password.',
  'invalid-request': 'The request has an invalid header, method or body.',
  blocked: 'Private and local addresses cannot be called.',
  unreachable: 'The server cannot be reached.',
  'too-many-requests': 'Too many outgoing requests are in progress.',
  timeout: 'The server did not answer in time.',
  'too-many-redirects': `The server redirected more than ${MAX_REDIRECTS} times.`,
  'broken-answer': "The server's response is incomplete or invalid.",
};

export type EgressErrorCode = keyof typeof MESSAGES;

/** Why an exchange has no response. The message names no host or address. The cause may, and is for the log only. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, options?: ErrorOptions) {
    super(MESSAGES[code], options);
    this.code = code;
  }
}

/** Maps an error of undici or of the system to an EgressError. */
export function toEgressError(cause: unknown): EgressError {
  if (cause instanceof EgressError) return cause;
  return new EgressError(codeOf(cause), { cause });
}

function codeOf(cause: unknown): EgressErrorCode {
  if (cause instanceof errors.InvalidArgumentError) return 'invalid-request';
  if (cause instanceof errors.ConnectTimeoutError) return 'unreachable';
  const isOfAnswer = cause instanceof errors.UndiciError || cause instanceof errors.HTTPParserError;
  return isOfAnswer ? 'broken-answer' : 'unreachable';
}
