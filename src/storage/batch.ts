import { isOutage } from '../errors/outage.ts';
import { REQUEST_LIMIT_MS, type RetryOptions, retry } from './retry.ts';
import type { Sql, Statement } from './sql.ts';

/**
 * Runs one statement for many concurrent calls. The statement's only parameter is a JSON array with one object per
 * call, and each row that it returns has the `key` of its object. The statement must be safe to repeat: in an outage it
 * is retried for up to 7 seconds, unless `repeats` is false.
 */
export type Batch<Entry extends object, Row extends object> = (
  key: string,
  entry: Entry,
) => Promise<Row[]>;

/** Calls that arrive during a batch form the next one. It is sent when that batch finishes, or after this time. */
const LATE_MS = 20;
/** The most concurrent batches, per lane: small and large entries. */
const MAX_UNDER_WAY = 4;
const MAX_LARGE_UNDER_WAY = 2;
/** In characters. Large entries have their own lane, so that small ones do not wait for another tenant's megabytes. */
const LARGE = 64 * 1024;
const MAX_ENTRIES = 64;
const MAX_CHARACTERS = 1024 * 1024;

export type BatchOptions = {
  /** Whether the statement is retried in an outage. Defaults to true. */
  repeats?: boolean;
  /** Called with the number of entries of each batch. */
  onSend?: (entries: number) => void;
};

type Waiting<Row> = {
  key: string;
  json: string;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
};

/**
 * Calls in one turn of the event loop form a batch. It is sent when the previous batch has finished or has taken
 * `LATE_MS`, and fewer than the maximum of its lane are in progress. Sorts its entries by key, so that concurrent batches
 * lock rows in the same order. After a failure, each entry of the batch is repeated alone, so that an invalid entry does
 * not fail the others. A batch of a single entry is repeated only in an outage.
 */
export function createBatch<Entry extends object, Row extends object>(
  sql: Sql,
  statement: Statement,
  { repeats = true, onSend = () => {} }: BatchOptions = {},
): Batch<Entry, Row> {
  const repeating = { when: repeats ? isOutage : () => false, limitMs: REQUEST_LIMIT_MS };
  const lane = (maxUnderWay: number) =>
    createLane<Row>(sql, statement, { repeating, maxUnderWay, onSend });
  const [small, large] = [lane(MAX_UNDER_WAY), lane(MAX_LARGE_UNDER_WAY)];
  return (key, entry) => {
    const json = JSON.stringify({ ...entry, key });
    return json.length > LARGE ? large(key, json) : small(key, json);
  };
}

function createLane<Row extends object>(
  sql: Sql,
  statement: Statement,
  {
    repeating,
    maxUnderWay,
    onSend,
  }: {
    repeating: Required<Pick<RetryOptions, 'when' | 'limitMs'>>;
    maxUnderWay: number;
    onSend(entries: number): void;
  },
) {
  const waiting: Waiting<Row>[] = [];
  let underWay = 0;
  /** The batch that the next one waits for. */
  let ahead: Waiting<Row>[] | undefined;

  const run = async (batch: Waiting<Row>[]) => {
    const rows = await sql<Row & { key: string }>(statement, [
      `[${batch.map(({ json }) => json).join(',')}]`,
    ]);
    const [only] = batch;
    if (only && batch.length === 1) return only.resolve(rows);
    const byKey = Map.groupBy(rows, ({ key }) => key);
    for (const { key, resolve } of batch) resolve(byKey.get(key) ?? []);
  };

  const passed = (batch: Waiting<Row>[]) => {
    if (ahead === batch) ahead = undefined;
    sendNext();
  };

  const send = async (batch: Waiting<Row>[]) => {
    ahead = batch;
    underWay += 1;
    onSend(batch.length);
    // Not a deadline: the batch continues, and only the next batch no longer waits for it.
    const late = setTimeout(passed, LATE_MS, batch);
    try {
      await run(batch);
    } catch (error) {
      for (const one of batch) {
        if (batch.length === 1 && !repeating.when(error)) one.reject(error);
        else retry(() => run([one]), repeating).catch(one.reject);
      }
    }
    clearTimeout(late);
    underWay -= 1;
    passed(batch);
  };

  const sendNext = () => {
    if (waiting.length === 0 || ahead || underWay >= maxUnderWay) return;
    let characters = 0;
    const fits = waiting.findIndex(({ json }, index) => {
      characters += json.length;
      return index > 0 && (index === MAX_ENTRIES || characters > MAX_CHARACTERS);
    });
    const batch = waiting.splice(0, fits < 0 ? waiting.length : fits);
    void send(batch.sort((one, other) => (one.key < other.key ? -1 : 1)));
  };

  return (key: string, json: string): Promise<Row[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    waiting.push({ key, json, resolve, reject });
    // Calls of requests that arrived at the same moment share a batch.
    if (waiting.length === 1) setImmediate(sendNext);
    return promise;
  };
}
