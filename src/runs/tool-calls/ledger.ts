import type { PubSub } from '../../coordination/pubsub.ts';
import type { Prisma, PrismaClient } from '../../generated/prisma/client.ts';
import type { Log } from '../../observability/log.ts';
import { createBatch } from '../../storage/batch.ts';
import type { Database } from '../../storage/database.ts';
import { retryInRequest } from '../../storage/retry.ts';
import { makeId } from '../../text/ids.ts';
import type { BegunRun } from '../record/begun-run.ts';
import {
  type Asked,
  approvalsChannel,
  ask,
  MAX_WAITING_OF_RUN,
  type Question,
  WORK_CHANNEL,
} from './ask.ts';
import {
  FINISH,
  readToolRequest,
  type ToolCallRecord,
  type ToolRequest,
  WRITE_AHEAD,
} from './tool-call.ts';

/** A call to record. */
export type NewToolCall = Pick<ToolCallRecord, 'callId' | 'name' | 'digest' | 'arguments'>;

/** How a call ended. */
export type ToolCallEnd = Pick<ToolCallRecord, 'status' | 'result'> & { httpStatus?: number };

/**
 * The tool calls of one attempt at a run. A call that may change something is written ahead of its request, so that a
 * later attempt knows of it; the end of the run stores the others. Source: "Agents that act" in `docs/agents-that-act.md`.
 */
export type Ledger = {
  /**
   * Finds the record of an equal call of an earlier attempt. Each record is found once.
   *
   * @returns its status is `UNKNOWN` if the attempt ended before the call did.
   */
  earlier(call: Pick<NewToolCall, 'digest'>): ToolCallRecord | undefined;
  /** Begins the record of a call. */
  open(call: NewToolCall): ToolCallRecord;
  /**
   * Stores the record before its request leaves.
   *
   * @throws an error if it could not be stored, or if the attempt no longer owns the run: the request must not be sent.
   */
  writeAhead(record: ToolCallRecord, request: ToolRequest | null): Promise<void>;
  /**
   * Stores a call that waits for the approval of a person. The record gets the status `WAITING` if the outcome is `asked`.
   *
   * @throws an error if it could not be stored, or if the attempt no longer owns the run.
   */
  ask(record: ToolCallRecord, question: Question): Promise<Exclude<Asked, 'lost'>>;
  /** Ends the record. If it was written ahead, waits until its end is stored, or cannot be stored for seven seconds. */
  finish(record: ToolCallRecord, end: ToolCallEnd): Promise<void>;
  /** The records that the end of the run must store. */
  unstored(): ToolCallRecord[];
};

/** The most records of one run: the allowed calls of three attempts, and as many refused ones. */
export const MAX_RECORDS = 384;

/** Opens the ledger of an attempt at a run. @param now the time, in milliseconds since 1970. */
export type OpenLedger = (
  run: BegunRun,
  attempt: { isFirst: boolean; now(): number },
) => Promise<Ledger>;

export function createLedgers({
  prisma,
  sql,
  pubsub,
  keepsTexts,
  log,
}: Pick<Database, 'prisma' | 'sql'> & {
  pubsub: PubSub;
  /** Whether arguments, requests and results are stored. */
  keepsTexts: boolean;
  log: Log;
}): OpenLedger {
  const writeAheadAll = createBatch<Entry, object>(sql, WRITE_AHEAD);
  const finishAll = createBatch<ToolCallRecord, object>(sql, FINISH);
  const stored = (record: ToolCallRecord): ToolCallRecord =>
    keepsTexts ? record : { ...record, arguments: null, request: null, result: null };

  return async ({ id: runId, botId, ownerId, attempt }, { isFirst, now }) => {
    const found = isFirst ? [] : await readEarlier(prisma, runId);
    const unmatched = [...found];
    /** The records of this attempt that the end of the run must store. */
    const open = new Set<ToolCallRecord>();
    const ahead = new Set<ToolCallRecord>();
    let waiting = found.filter(({ status }) => status === 'WAITING').length;
    let asking: Promise<unknown> = Promise.resolve();
    let position = (found.at(-1)?.position ?? -1) + 1;

    const askOnce: Ledger['ask'] = async (record, question) => {
      if (waiting >= MAX_WAITING_OF_RUN) return 'full';
      waiting += 1;
      const asked = await retryInRequest(() =>
        ask(prisma, { id: runId, botId, ownerId, attempt }, record, question),
      );
      if (asked === 'lost') throw new Error(NO_LONGER_OWNED);
      if (asked === 'asked') {
        record.status = 'WAITING';
        open.delete(record);
        pubsub.publish(approvalsChannel(botId), record.id);
        pubsub.publish(WORK_CHANNEL, '');
      } else waiting -= 1;
      return asked;
    };

    return {
      earlier({ digest }) {
        const index = unmatched.findIndex((record) => record.digest === digest);
        return index < 0 ? undefined : unmatched.splice(index, 1)[0];
      },

      open(call) {
        const record: ToolCallRecord = {
          ...call,
          id: makeId('tcl'),
          position,
          request: null,
          status: 'RUNNING',
          result: null,
          httpStatus: null,
          idempotencyKey: null,
          startedAt: now(),
          finishedAt: null,
        };
        position += 1;
        if (record.position < MAX_RECORDS) open.add(record);
        return record;
      },

      async writeAhead(record, request) {
        record.status = 'RUNNING';
        record.request = request;
        record.idempotencyKey = record.id;
        const entry = { ...stored(record), runId, ownerId, attempt };
        const [row] = await writeAheadAll(record.id, entry);
        if (!row) throw new Error(NO_LONGER_OWNED);
        open.add(record);
        ahead.add(record);
      },

      ask(record, question) {
        // One after the other, so that equal calls of one answer see each other.
        const asked = asking.then(() => askOnce(record, question));
        asking = asked.catch(() => {});
        return asked;
      },

      async finish(record, { status, result, httpStatus = null }) {
        Object.assign(record, { status, result, httpStatus, finishedAt: now() });
        if (!ahead.has(record)) return;
        try {
          await finishAll(record.id, stored(record));
          open.delete(record);
        } catch (err) {
          const toolCallId = record.id;
          log.error({ runId, toolCallId, err }, 'The end of a tool call could not be stored.');
        }
      },

      unstored: () => [...open].map((record) => stored(ended(record, now()))),
    };
  };
}

/** A record at the end of its run: a call that still has no outcome was never sent. */
function ended(record: ToolCallRecord, at: number): ToolCallRecord {
  if (record.status !== 'RUNNING') return record;
  return { ...record, status: 'FAILED', result: NOT_SENT, finishedAt: at };
}

const NOT_SENT = 'Error: The call could not be recorded, so it was not sent.';
const NO_LONGER_OWNED = 'The attempt no longer owns the run.';

type Entry = ToolCallRecord & Pick<BegunRun, 'ownerId' | 'attempt'> & { runId: string };

const COLUMNS = {
  id: true,
  position: true,
  callId: true,
  name: true,
  digest: true,
  arguments: true,
  request: true,
  status: true,
  result: true,
  httpStatus: true,
  idempotencyKey: true,
  startedAt: true,
  finishedAt: true,
} satisfies Prisma.ToolCallSelect;

/**
 * Reads the calls of earlier attempts. Calls that were in progress become `UNKNOWN`. An approved call in progress is
 * `UNKNOWN` for the run only: the worker of approvals stores its outcome.
 */
async function readEarlier(prisma: PrismaClient, runId: string): Promise<ToolCallRecord[]> {
  await prisma.toolCall.updateMany({
    where: { runId, status: 'RUNNING', approval: null },
    data: { status: 'UNKNOWN' },
  });
  const rows = await prisma.toolCall.findMany({
    where: { runId },
    select: COLUMNS,
    orderBy: { position: 'asc' },
    take: MAX_RECORDS,
  });
  return rows.map(({ request, status, startedAt, finishedAt, ...row }) => ({
    ...row,
    status: status === 'RUNNING' ? 'UNKNOWN' : status,
    request: readToolRequest(request),
    startedAt: startedAt.getTime(),
    finishedAt: finishedAt?.getTime() ?? null,
  }));
}
