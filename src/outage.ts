/** Error codes of Node.js sockets, and Prisma's codes for connections and timeouts. */
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
  // Kinds of driver errors, which Prisma does not map to codes in raw queries.
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]);
/**
 * Connection exceptions, insufficient resources, operator intervention, system errors, transaction conflicts, and writes
 * to a server that is read-only during a failover.
 * Source: PostgreSQL's manual, appendix A.
 */
const SQLSTATES = /^(?:08|53|57|58)...$|^(?:25006|25P03|40001|40P01|55P03)$/;
/** Messages of node-postgres errors that have no code. */
const MESSAGES =
  /^(?:Connection terminated|Query read timeout|timeout (?:exceeded when trying to connect|expired)|Client (?:has encountered a connection error|was closed))/;

/**
 * Whether the database was unreachable or did not respond, so that the statement's outcome is unknown and a retry may
 * succeed. False for errors that the database reports about a statement, and for defects.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (MESSAGES.test(error.message)) return true;
  return isFatal(error) || codesOf(error).some((code) => CODES.has(code) || SQLSTATES.test(code));
}

/** Whether the server refused or ended the connection, for any reason: that says nothing about the statement. */
function isFatal(error: Error): boolean {
  const { severity, meta } = error as { severity?: unknown; meta?: PrismaMeta };
  return [severity, meta?.driverAdapterError?.cause?.severity].includes('FATAL');
}

/** The error's own code, and the driver's kind and SQLSTATE from Prisma's `meta`. */
function codesOf(error: Error): string[] {
  const { code, meta } = error as { code?: unknown; meta?: PrismaMeta };
  const { kind, originalCode } = meta?.driverAdapterError?.cause ?? {};
  return [code, kind, originalCode].filter((one) => typeof one === 'string');
}

type PrismaMeta = {
  driverAdapterError?: { cause?: { kind?: unknown; originalCode?: unknown; severity?: unknown } };
};
