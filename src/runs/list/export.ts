import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { Place } from '../../storage/keyset.ts';
import { CSV, type ExportFormat, type ExportRow, JSON_LINES } from './export-format.ts';
import type { RunFilter } from './filter.ts';
import type { RunList } from './list.ts';

/** A part of a file. The parts in order make the file. */
export type ExportPart = {
  /** At most 256 Ki UTF-16 code units. */
  text: string;
  /** The number of runs in the file so far. */
  rows: number;
  /** Whether it is the last part. */
  done: boolean;
  /** Whether more runs match than a file may have. */
  truncated: boolean;
};

/** What to export, and for whom. */
export type ExportRequest = {
  accountId: string;
  botId: string;
  filter: RunFilter;
  format: 'CSV' | 'JSON_LINES';
};

/** Exports runs. */
export type RunExport = {
  /**
   * Reads the runs of a bot that match, newest first, as the parts of a file. Reads the next part only when the caller
   * asks for it, and holds at most one part and one run in memory. Runs that begin meanwhile are not in the file.
   *
   * @param options `signal` ends the file early; `longRead` queues reads of long texts, and `search` queues reads with a
   *   filter that has a text.
   * @throws GatewayError `rate_limit_exceeded` if the account already has two exports in this process. The file ends early
   *   with the errors of `RunList.find`.
   */
  start(request: ExportRequest, options: Options): AsyncGenerator<ExportPart>;
};

type Options = { signal: AbortSignal; longRead: LongRead; search: Search };

type LongRead = <Result>(read: () => Promise<Result>) => Promise<Result>;
type Search = <Result>(filter: RunFilter, read: () => Promise<Result>) => Promise<Result>;

/** Runs in one file. */
const MAX_ROWS = 1_000_000;
/** Exports of one account at a time in one process. */
const MAX_EXPORTS = 2;
/** Runs that one statement finds. */
const PAGE = 100;
/** Bytes of texts that one statement reads, unless a single run has more. */
const PAGE_BYTES = 256 * 1024;
/** UTF-16 code units of one part. */
export const PART_LENGTH = 256 * 1024;

const FORMATS: Record<ExportRequest['format'], ExportFormat> = { CSV, JSON_LINES };
const BYTES = Prisma.sql`
  octet_length(input) + COALESCE(octet_length(response), 0) + COALESCE(octet_length(metadata::text), 0)`;

/** @param maxRows overrides the most runs in one file. */
export function createRunExport({
  prisma,
  runList,
  maxRows = MAX_ROWS,
}: {
  prisma: PrismaClient;
  runList: RunList;
  maxRows?: number;
}): RunExport {
  const acquire = createConcurrencyLimit(
    (max) => `This account already has ${max} exports. Wait until one ends.`,
  );

  return {
    start(request, options) {
      const release = acquire(request.accountId, MAX_EXPORTS);
      // A caller that leaves before the first part never starts the generator.
      if (options.signal.aborted) release();
      else options.signal.addEventListener('abort', release, { once: true });
      return parts(request, { ...options, release });
    },
  };

  async function* parts(
    { botId, filter, format }: ExportRequest,
    { signal, longRead, search, release }: Options & { release: () => void },
  ): AsyncGenerator<ExportPart> {
    try {
      const { head, row } = FORMATS[format];
      let rows = 0;
      let truncated = false;
      yield* partsOf(head);
      for (let after: Place | undefined; ; ) {
        if (signal.aborted) return;
        const page = await nextPage(botId, filter, after, { longRead, search });
        const text = page.runs
          .slice(0, maxRows - rows)
          .map(row)
          .join('');
        truncated = rows + page.runs.length > maxRows;
        rows += Math.min(page.runs.length, maxRows - rows);
        yield* partsOf(text);
        if (page.last === undefined || truncated) break;
        after = page.last;
      }
      yield { text: '', rows, done: true, truncated };

      function* partsOf(text: string): Generator<ExportPart> {
        for (let start = 0; start < text.length; ) {
          let end = Math.min(start + PART_LENGTH, text.length);
          // A part does not end between the halves of a surrogate pair.
          if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '')) end -= 1;
          yield { text: text.slice(start, end), rows, done: false, truncated: false };
          start = end;
        }
      }
    } finally {
      signal.removeEventListener('abort', release);
      release();
    }
  }

  /** @returns the next runs, and the place of the last one; `undefined` if no more follow. */
  async function nextPage(
    botId: string,
    filter: RunFilter,
    after: Place | undefined,
    { longRead, search }: Pick<Options, 'longRead' | 'search'>,
  ): Promise<{ runs: ExportRow[]; last: Place | undefined }> {
    const { rows: found, reached } = await search(filter, () =>
      runList.find([botId], filter, {
        bounds: after ? [{ place: after, direction: 'desc' }] : [],
        direction: 'desc',
        take: PAGE,
        bytes: BYTES,
      }),
    );
    let bytes = 0;
    const fitting = found.findIndex((run) => {
      bytes += run.bytes;
      return bytes > PAGE_BYTES;
    });
    const shown = fitting < 0 ? found : found.slice(0, Math.max(1, fitting));
    const ids = shown.map(({ id }) => id);
    const read = () => prisma.run.findMany({ where: { id: { in: ids } }, select: COLUMNS });
    const isLong = shown.reduce((sum, run) => sum + run.bytes, 0) > PAGE_BYTES;
    const byId = new Map((await (isLong ? longRead(read) : read())).map((run) => [run.id, run]));
    const runs = ids.flatMap((id) => byId.get(id) ?? []);
    const isWhole = shown.length === found.length;
    if (isWhole && reached) return { runs, last: reached };
    return { runs, last: isWhole && found.length < PAGE ? undefined : shown.at(-1)?.place };
  }
}

const COLUMNS = {
  id: true,
  deploymentId: true,
  environment: true,
  kind: true,
  status: true,
  channel: true,
  entrance: true,
  sessionId: true,
  input: true,
  response: true,
  errorCode: true,
  errorMessage: true,
  model: true,
  metadata: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
  latencyMs: true,
  promptTokens: true,
  completionTokens: true,
  toolsCalled: true,
} satisfies Prisma.RunSelect;
