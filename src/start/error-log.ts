import { GraphQLError } from 'graphql';
import { isOutageMessage } from '../errors/outage.ts';
import { redactSecrets } from '../text/secret-redaction.ts';

/** An error as the log shows it. `message` is empty if it may quote input. */
export type LoggedError = { type: string; message: string; stack: string; [name: string]: unknown };

/** Names of Parley's own errors, whose messages quote no values. */
const OWN_TYPES = ['GatewayError', 'StartupError', 'EgressError', 'TooLong'];

const FRAME = /^ {4}at .*(?::\d+:\d+|<anonymous>|native)\)?$/;
const CODE = /^[A-Z\d_]{1,64}$/;
const MAX_CAUSES = 5;

/**
 * Converts an error for the log: its type, code, stack and causes. It drops every message that may quote input, such as
 * the messages of `JSON.parse`, Prisma and PostgreSQL, because the input may contain a secret or a user's text.
 */
export function errorForLog(error: unknown, causesLeft = MAX_CAUSES): LoggedError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  if (!(original instanceof Error)) return { type: typeof original, message: '', stack: '' };
  const { name, message, stack = '', cause } = original;
  const code = 'code' in original ? original.code : undefined;
  const isKnown = OWN_TYPES.includes(name) || isOutageMessage(message);
  return {
    type: name,
    ...(isCode(code) && { code }),
    message: isKnown ? message : '',
    stack: framesOf(stack, message),
    ...(cause !== undefined && causesLeft > 0 && { cause: errorForLog(cause, causesLeft - 1) }),
  };
}

/**
 * pino options that keep error messages which may quote input out of the log, and redact keys and tokens in every line.
 * Without an explicit log message, pino uses the error's message.
 */
export const ERROR_LOGGING = {
  serializers: { err: (error: unknown) => errorForLog(error) },
  hooks: {
    /** A secret that a message or a field quotes in spite of all care. */
    streamWrite: redactSecrets,
    logMethod(this: unknown, args: unknown[], method: (...args: unknown[]) => void): void {
      const [fields, message, ...rest] = args;
      const error = fields instanceof Error ? fields : errIn(fields);
      const isQuoted =
        error instanceof Error && (message === undefined || message === error.message);
      const safe = isQuoted ? errorForLog(error).message || 'Something failed.' : message;
      method.apply(this, args.length === 0 ? [] : [fields, safe, ...rest]);
    },
  },
};

function errIn(fields: unknown): unknown {
  return typeof fields === 'object' && fields !== null && 'err' in fields ? fields.err : undefined;
}

function isCode(code: unknown): boolean {
  return Number.isSafeInteger(code) || (typeof code === 'string' && CODE.test(code));
}

/** The stack's frames. The message is cut out first, because one of its lines may look like a frame. */
function framesOf(stack: string, message: string): string {
  const at = stack.indexOf(message);
  const frames = stack.slice(at === -1 ? 0 : at + message.length).split('\n');
  return frames.filter((line) => FRAME.test(line)).join('\n');
}
