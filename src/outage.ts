/** Codes of Node's sockets, and of Prisma for connections and timeouts. */
const CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
  'P2034',
  'P2037',
  // Kinds of driver errors, which Prisma's raw queries do not turn into codes.
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]);
/**
 * Connection exceptions, insufficient resources, operator intervention, system errors, and conflicts of transactions.
 * Source: PostgreSQL's manual, appendix A.
 */
const SQLSTATES = /^(?:08|53|57|58)...$|^(?:25P03|40001|40P01|55P03)$/;
/** Errors of node-postgres that have no code. */
const MESSAGES =
  /^(?:Connection terminated|Query read timeout|timeout (?:exceeded when trying to connect|expired)|Client (?:has encountered a connection error|was closed))/;

/**
 * Whether an error means that the database could not be reached or did not answer: the outcome of the statement is
 * unknown, and a repeat may succeed. False for errors that the database reports of a statement, and for defects.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (MESSAGES.test(error.message)) return true;
  return codesOf(error).some((code) => CODES.has(code) || SQLSTATES.test(code));
}

/** The error's own code, and the kind and the SQLSTATE that Prisma keeps in its `meta`. */
function codesOf(error: Error): string[] {
  const { code, meta } = error as { code?: unknown; meta?: PrismaMeta };
  const { kind, originalCode } = meta?.driverAdapterError?.cause ?? {};
  return [code, kind, originalCode].filter((one) => typeof one === 'string');
}

type PrismaMeta = { driverAdapterError?: { cause?: { kind?: unknown; originalCode?: unknown } } };
