import { errors } from 'undici';

/** Redirects that one exchange follows. */
export const MAX_REDIRECTS = 3;

const MESSAGES = {
  'invalid-url': 'The URL must use http: or https: and must not contain a user name or password.',
  'invalid-request': 'The request has an invalid header, method or body.',
  blocked:
    'Private and local addresses cannot be called, unless the operator lists host:port in PARLEY_ALLOWED_HOSTS.',
  unreachable: 'The server cannot be reached.',
  'too-many-requests': 'Too many outgoing requests are in progress.',
  timeout: 'The server did not answer in time.',
  'too-many-redirects': `The server redirected more than ${MAX_REDIRECTS} times.`,
  'broken-answer': "The server's response is incomplete or invalid.",
};

export type EgressErrorCode = keyof typeof MESSAGES;

/** Errors after which the server may have performed the request. */
const UNANSWERED: EgressErrorCode[] = ['timeout', 'broken-answer', 'too-many-redirects'];

/** Why an exchange has no response. The message names no host or address. The cause may, and is for the log only. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, options?: ErrorOptions) {
    super(MESSAGES[code], options);
    this.code = code;
  }

  /** Whether the server may have performed the request, although no complete response arrived. */
  get isUnanswered(): boolean {
    if (this.code === 'unreachable')
      return this.cause !== undefined && !isBeforeSending(this.cause);
    return UNANSWERED.includes(this.code);
  }
}

/** Maps an error of undici or of the system to an EgressError. */
export function toEgressError(cause: unknown): EgressError {
  if (cause instanceof EgressError) return cause;
  return new EgressError(codeOf(cause), { cause });
}

/** Errors of name resolution and of connecting, after which nothing was sent. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Errors of a TLS handshake and of a certificate. */
const OF_TLS = /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/;

function isBeforeSending(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.every(isBeforeSending);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return BEFORE_SENDING.has(code) || OF_TLS.test(code);
}

function codeOf(cause: unknown): EgressErrorCode {
  if (cause instanceof errors.InvalidArgumentError) return 'invalid-request';
  if (cause instanceof errors.ConnectTimeoutError) return 'unreachable';
  const isOfAnswer = cause instanceof errors.UndiciError || cause instanceof errors.HTTPParserError;
  return isOfAnswer ? 'broken-answer' : 'unreachable';
}
