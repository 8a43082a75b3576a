import type { Run } from '../../generated/prisma/client.ts';
import { isJsonObject, type JsonValue } from '../../text/json.ts';
import { entranceOf } from '../record/entrance.ts';

/** A run to export. */
export type ExportRow = Pick<
  Run,
  | 'id'
  | 'deploymentId'
  | 'environment'
  | 'kind'
  | 'status'
  | 'channel'
  | 'entrance'
  | 'sessionId'
  | 'input'
  | 'response'
  | 'errorCode'
  | 'errorMessage'
  | 'model'
  | 'metadata'
  | 'createdAt'
  | 'startedAt'
  | 'finishedAt'
  | 'latencyMs'
  | 'promptTokens'
  | 'completionTokens'
  | 'toolsCalled'
>;

/** How to write runs to a file. */
export type ExportFormat = {
  /** The start of the file. */
  head: string;
  row(run: ExportRow): string;
};

/** The columns, with the names that REST has. */
const FIELDS: Record<string, (run: ExportRow) => JsonValue | Date> = {
  run_id: ({ id }) => id,
  created_at: ({ createdAt }) => createdAt,
  started_at: ({ startedAt }) => startedAt,
  finished_at: ({ finishedAt }) => finishedAt,
  status: ({ status }) => status.toLowerCase(),
  kind: ({ kind }) => kind.toLowerCase(),
  environment: ({ environment }) => environment.toLowerCase(),
  channel: ({ channel }) => channel.toLowerCase(),
  session_id: ({ sessionId }) => sessionId,
  deployment_id: ({ deploymentId }) => deploymentId,
  model: ({ model }) => model,
  input: ({ input }) => input,
  response: ({ response }) => response,
  error_code: ({ errorCode }) => errorCode,
  error_message: ({ errorMessage }) => errorMessage,
  latency_ms: ({ latencyMs }) => latencyMs,
  prompt_tokens: ({ promptTokens }) => promptTokens,
  completion_tokens: ({ completionTokens }) => completionTokens,
  tools_called: ({ toolsCalled }) => toolsCalled,
  metadata: ({ metadata }) => (isJsonObject(metadata) ? metadata : null),
  entrance: (run) => entranceOf(run)?.toLowerCase() ?? null,
};

/** One JSON object a line. */
export const JSON_LINES: ExportFormat = {
  head: '',
  row: (run) => {
    const pairs = Object.entries(FIELDS).map(([name, read]) => [name, read(run)]);
    return `${JSON.stringify(Object.fromEntries(pairs))}\n`;
  },
};

/** Source: RFC 4180. */
export const CSV: ExportFormat = {
  head: `${Object.keys(FIELDS).join(',')}\r\n`,
  row: (run) => {
    const cells = Object.values(FIELDS).map((read) => cellOf(read(run)));
    return `${cells.join(',')}\r\n`;
  },
};

function cellOf(value: JsonValue | Date): string {
  if (value === null) return '';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : textOf(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function textOf(value: JsonValue): string {
  return Array.isArray(value) ? value.join(' ') : JSON.stringify(value);
}

/**
 * The first characters for which a spreadsheet would run a text as a formula, also after spaces. An apostrophe before
 * them makes it text. Source: OWASP, "CSV Injection".
 */
const FORMULA = /^[\s\0]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
