import { isOutage } from '../outage.ts';
import { REQUEST_LIMIT_MS, type RetryOptions, retry } from './retry.ts';
import type { Sql, Statement } from './sql.ts';

/**
 * Runs one statement for what many ask of it at the same time. Its only parameter is a JSON array with an object
 * for each, and every row that it answers has the `key` of the object that it is for. The statement must be safe to
 * repeat: where its answer is lost it runs again, for 7 seconds at most, unless its callers repeat it.
 */
export type Batch<Entry extends object, Row extends object> = (
  key: string,
  entry: Entry,
) => Promise<Row[]>;

/** What comes while a batch is under way makes the next one, which leaves then, or when that one is late. */
const LATE_MS = 20;
/** So many late ones hold up the others all the same: batches of small entries, and of large ones. */
const MAX_UNDER_WAY = 4;
const MAX_LARGE_UNDER_WAY = 2;
/** In characters. Large entries wait among themselves: small ones do not queue behind megabytes of another tenant. */
const LARGE = 64 * 1024;
const MAX_ENTRIES = 64;
const MAX_CHARACTERS = 1024 * 1024;

type Waiting<Row> = {
  key: string;
  json: string;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
};

/**
 * Nobody waits for company: a batch leaves as soon as it may, in the order of the keys, so that those who lock the same
 * rows do so in one order. A batch that fails is repeated one entry at a time, so that a wrong entry does not harm the
 * others; a single entry is repeated only in an outage.
 */
export function createBatch<Entry extends object, Row extends object>(
  sql: Sql,
  statement: Statement,
  { repeats = true }: { repeats?: boolean } = {},
): Batch<Entry, Row> {
  const repeating = { when: repeats ? isOutage : () => false, limitMs: REQUEST_LIMIT_MS };
  const small = createLane<Row>(sql, statement, { repeating, maxUnderWay: MAX_UNDER_WAY });
  const large = createLane<Row>(sql, statement, { repeating, maxUnderWay: MAX_LARGE_UNDER_WAY });
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
  }: { repeating: Required<Pick<RetryOptions, 'when' | 'limitMs'>>; maxUnderWay: number },
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
    // What asks in the same moment goes together.
    if (waiting.length === 1) queueMicrotask(sendNext);
    return promise;
  };
}
