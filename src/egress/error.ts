import { errors } from 'undici';

/** Redirects of one exchange. */
export const MAX_REDIRECTS = 3;

const MESSAGES = {
  'invalid-url': 'The address is not a valid one of http: or https: without a user name.',
  'invalid-request': 'The request has a header, a method or a body that cannot be sent.',
  blocked: 'Private and local addresses cannot be called.',
  unreachable: 'The server cannot be reached.',
  'too-many-requests': 'Too many requests to other servers are under way.',
  timeout: 'The server did not answer in time.',
  'too-many-redirects': `The server redirected more than ${MAX_REDIRECTS} times.`,
  'broken-answer': "The server's answer broke off or cannot be read.",
};

export type EgressErrorCode = keyof typeof MESSAGES;

/** Why there is no answer, in words that name no host and no address. The cause may: it is for the log. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, options?: ErrorOptions) {
    super(MESSAGES[code], options);
    this.code = code;
  }
}

/** What an error of undici or of the system comes down to. */
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
