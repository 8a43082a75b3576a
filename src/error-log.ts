import { GraphQLError } from 'graphql';

/** What a line of the log shows of an error. `message` is empty where the message may quote input. */
export type LoggedError = { type: string; message: string; stack: string; [name: string]: unknown };

/** Errors of Parley whose messages quote no value. */
const OWN_TYPES = ['GatewayError', 'StartupError', 'EgressError', 'BrokenOff', 'TooLong'];

/** What the drivers of PostgreSQL and Redis say of an outage, without a code. */
const OUTAGES = [
  'Client has encountered a connection error and is not queryable',
  'Command timed out',
  'Connection is closed.',
  'Connection terminated',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
  'Query read timeout',
  'The database is silent.',
  'timeout exceeded when trying to connect',
  'timeout expired',
];

const FRAME = /^ {4}at .*(?::\d+:\d+|<anonymous>|native)\)?$/;
const CODE = /^[A-Z\d_]{1,64}$/;
const MAX_CAUSES = 5;

/**
 * An error as the log shows it: its type, its code, its stack and its causes. Only messages that are known to quote
 * nothing are shown: those of `JSON.parse`, URLs, headers, Prisma, PostgreSQL and many others quote their input, which
 * may hold a secret or what a user wrote.
 */
export function errorForLog(error: unknown, causesLeft = MAX_CAUSES): LoggedError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  if (!(original instanceof Error)) return { type: typeof original, message: '', stack: '' };
  const { name, message, stack = '', cause } = original;
  const code = 'code' in original ? original.code : undefined;
  const isKnown = OWN_TYPES.includes(name) || OUTAGES.includes(message);
  return {
    type: name,
    ...(isCode(code) && { code }),
    message: isKnown ? message : '',
    stack: framesOf(stack, message),
    ...(cause !== undefined && causesLeft > 0 && { cause: errorForLog(cause, causesLeft - 1) }),
  };
}

/**
 * How a log has to be set up so that no line shows the message of an error that may quote input. Without words of the
 * caller's own, pino takes those of the error for the line.
 */
export const ERROR_LOGGING = {
  serializers: { err: (error: unknown) => errorForLog(error) },
  hooks: {
    logMethod(this: unknown, args: unknown[], method: (...args: unknown[]) => void): void {
      const [fields, words, ...rest] = args;
      const error = fields instanceof Error ? fields : errIn(fields);
      const isQuoted = error instanceof Error && (words === undefined || words === error.message);
      const safe = isQuoted ? errorForLog(error).message || 'Something failed.' : words;
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

/** The stack without the message, of which a line may look like a frame. */
function framesOf(stack: string, message: string): string {
  const at = stack.indexOf(message);
  const frames = stack.slice(at === -1 ? 0 : at + message.length).split('\n');
  return frames.filter((line) => FRAME.test(line)).join('\n');
}
