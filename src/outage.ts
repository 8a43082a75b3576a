/** Of Node's sockets, and of Prisma for a database that it cannot reach, that hangs up, or that has no time. */
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
]);
/**
 * Connection, resource, operator and system errors; conflicts and time-outs, whose statement may succeed later. Source:
 * PostgreSQL's manual, appendix A.
 */
const SQLSTATES = /^(?:08|53|57|58)...$|^(?:25P03|40001|40P01|55P03)$/;
/** What node-postgres says without a code. */
const MESSAGES =
  /^(?:Connection terminated|Query read timeout|timeout (?:exceeded when trying to connect|expired)|Client (?:has encountered a connection error|was closed))/;

/**
 * Whether an error says that the database could not be reached or did not answer, so that the outcome of the statement
 * is unknown and a repeat may succeed. False for what the database refuses, and for defects.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codesOf(error).some((code) => CODES.has(code) || SQLSTATES.test(code)) || says(error);
}

function says({ message }: Error): boolean {
  return MESSAGES.test(message);
}

/** The error's own code, and the SQLSTATE that Prisma keeps in its `meta`. */
function codesOf(error: Error): string[] {
  const { code, meta } = error as { code?: unknown; meta?: PrismaMeta };
  return [code, meta?.driverAdapterError?.cause?.originalCode].filter(
    (one) => typeof one === 'string',
  );
}

type PrismaMeta = { driverAdapterError?: { cause?: { originalCode?: unknown } } };
