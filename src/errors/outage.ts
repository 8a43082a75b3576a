/**
 * What to do about an error of PostgreSQL, of the embedded database or of Redis:
 * - `retry`: the server is busy or the statement met another one; the connection is good.
 * - `reconnect`: the connection is lost, or its server is the wrong one, such as a standby.
 * - `refused`: the server refuses this user, its password or the database, until somebody changes that.
 * - `defect`: the error is about the statement itself, so that a repetition fails too.
 */
export type Verdict = 'retry' | 'reconnect' | 'refused' | 'defect';

/**
 * Codes of Node.js sockets, Prisma's codes, and kinds of driver errors, which Prisma does not map to codes in raw queries.
 * Also the first words of Redis' errors.
 */
const CODES: Record<string, Verdict> = {
  ECONNREFUSED: 'reconnect',
  ECONNRESET: 'reconnect',
  EPIPE: 'reconnect',
  ETIMEDOUT: 'reconnect',
  ENOTFOUND: 'reconnect',
  EAI_AGAIN: 'reconnect',
  EHOSTUNREACH: 'reconnect',
  ENETUNREACH: 'reconnect',
  P1001: 'reconnect',
  P1002: 'reconnect',
  P1008: 'reconnect',
  P1017: 'reconnect',
  ConnectionClosed: 'reconnect',
  DatabaseNotReachable: 'reconnect',
  SocketTimeout: 'reconnect',
  P2024: 'retry',
  P2028: 'retry',
  P2034: 'retry',
  P2037: 'retry',
  TooManyConnections: 'retry',
  TransactionWriteConflict: 'retry',
  AuthenticationFailed: 'refused',
  DatabaseAccessDenied: 'refused',
  DatabaseDoesNotExist: 'refused',
  READONLY: 'reconnect',
  MASTERDOWN: 'reconnect',
  LOADING: 'retry',
  BUSY: 'retry',
  TRYAGAIN: 'retry',
  NOAUTH: 'refused',
  NOPERM: 'refused',
  WRONGPASS: 'refused',
};

/** PostgreSQL's code for a write on a standby or in a read-only transaction. */
const READ_ONLY = '25006';
/** PostgreSQL's code for a row with a key that another row has. */
const UNIQUE_VIOLATION = '23505';
/** PostgreSQL's code for text with a character that its encoding does not have. */
const UNSTORABLE = '22021';

/** PostgreSQL's codes and classes of codes, the first match counts. Source: its manual, appendix A. */
const SQLSTATES: [RegExp, Verdict][] = [
  [/^(?:28...|3D000)$/, 'refused'],
  // Connection exceptions, shutdowns, and writes to a server that is read-only during a failover.
  [/^(?:08...|57P..|25006)$/, 'reconnect'],
  // Insufficient resources, operator intervention, system errors, and conflicts of transactions.
  [/^(?:53...|57...|58...|25P03|40001|40P01|55P03)$/, 'retry'],
];

/** Messages of node-postgres and ioredis errors that have no code. They quote nothing. */
const MESSAGES =
  /^(?:Connection terminated(?: due to connection timeout| unexpectedly|: no answer within the limit\.)?|Query read timeout|timeout (?:exceeded when trying to connect|expired)|Client (?:has encountered a connection error|was closed) and is not queryable|Command timed out|Connection is closed\.|The database did not respond\.)$/;

/** The start of ioredis' message, which quotes the last error of a Sentinel. */
const NO_SENTINEL = /^All sentinels are unreachable/;

/** Whether a message is one of a driver's own about a lost connection, which quotes no input. */
export function isOutageMessage(message: string): boolean {
  return MESSAGES.test(message);
}

export function verdictOn(error: unknown): Verdict {
  if (!(error instanceof Error)) return 'defect';
  if (isOutageMessage(error.message) || NO_SENTINEL.test(error.message)) return 'reconnect';
  for (const code of codesOf(error)) {
    const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
    const verdict = known ?? SQLSTATES.find(([pattern]) => pattern.test(code))?.[1];
    if (verdict) return verdict;
  }
  // The server refused or ended the connection for another reason: that says nothing about the statement.
  return isFatal(error) ? 'reconnect' : 'defect';
}

/**
 * Whether the server was unreachable, did not respond or refused the connection, so that the statement's outcome is unknown
 * and a retry may succeed. False for errors that the server reports about a statement, and for defects.
 */
export function isOutage(error: unknown): boolean {
  return verdictOn(error) !== 'defect';
}

/** Whether PostgreSQL refused a write because the server is a standby. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && codesOf(error).includes(READ_ONLY);
}

/** Whether PostgreSQL refused a row because another one has its key. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof Error && codesOf(error).includes(UNIQUE_VIOLATION);
}

/** Whether PostgreSQL refused text with U+0000. Only ids and cursors can contain it; all other text is validated before. */
export function isUnstorable(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'PrismaClientKnownRequestError' &&
    error.message.includes(UNSTORABLE)
  );
}

function isFatal(error: Error): boolean {
  return [error as DriverError, driverErrorOf(error)].some(({ severity }) => severity === 'FATAL');
}

/** The error's own code, the driver's kind and SQLSTATE, and the first word of an error of Redis. */
function codesOf(error: Error): string[] {
  const { code } = error as DriverError;
  const { kind, originalCode } = driverErrorOf(error);
  const [word] = error.name === 'ReplyError' ? error.message.split(' ', 1) : [];
  return [code, kind, originalCode, word].filter((one) => typeof one === 'string');
}

/** What Prisma's adapter found, in Prisma's error or in the adapter's own. */
function driverErrorOf(error: Error): DriverError {
  const { meta, cause } = error as { meta?: PrismaMeta; cause?: DriverError };
  const own = error.name === 'DriverAdapterError' ? cause : undefined;
  return meta?.driverAdapterError?.cause ?? own ?? {};
}

type DriverError = {
  code?: unknown;
  kind?: unknown;
  originalCode?: unknown;
  severity?: unknown;
};
type PrismaMeta = { driverAdapterError?: { cause?: DriverError } };
