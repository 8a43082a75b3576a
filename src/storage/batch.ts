import type { Sql, Statement } from './sql.ts';

/**
 * Runs one statement for what many ask of it at the same time. Its only parameter is a JSON array with an object
 * for each, and every row that it answers has the `key` of the object that it is for.
 */
export type Batch<Entry extends object, Row extends object> = (
  key: string,
  entry: Entry,
) => Promise<Row[]>;

/** While so many batches are under way, what comes makes the next one. */
const MAX_UNDER_WAY = 2;
const MAX_ENTRIES = 64;
const MAX_CHARACTERS = 1024 * 1024;

type Waiting<Row> = {
  key: string;
  json: string;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
};

/**
 * Nobody waits for company: a batch leaves as soon as it may. One that fails is done again one by one, so that what
 * is wrong with one does not harm the others.
 */
export function createBatch<Entry extends object, Row extends object>(
  sql: Sql,
  statement: Statement,
): Batch<Entry, Row> {
  const waiting: Waiting<Row>[] = [];
  let underWay = 0;

  const run = async (batch: Waiting<Row>[]) => {
    const rows = await sql<Row & { key: string }>(statement, [
      `[${batch.map(({ json }) => json).join(',')}]`,
    ]);
    const [only] = batch;
    if (only && batch.length === 1) return only.resolve(rows);
    const byKey = Map.groupBy(rows, ({ key }) => key);
    for (const { key, resolve } of batch) resolve(byKey.get(key) ?? []);
  };

  const send = async (batch: Waiting<Row>[]) => {
    try {
      await run(batch);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else await Promise.all(batch.map((one) => run([one]).catch(one.reject)));
    }
    underWay -= 1;
    sendNext();
  };

  const sendNext = () => {
    if (waiting.length === 0 || underWay >= MAX_UNDER_WAY) return;
    let characters = 0;
    const fits = waiting.findIndex(({ json }, index) => {
      characters += json.length;
      return index > 0 && (index === MAX_ENTRIES || characters > MAX_CHARACTERS);
    });
    const batch = waiting.splice(0, fits < 0 ? waiting.length : fits);
    underWay += 1;
    void send(batch);
    sendNext();
  };

  return (key, entry) => {
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    waiting.push({ key, json: JSON.stringify({ ...entry, key }), resolve, reject });
    // What asks in the same moment goes together.
    if (waiting.length === 1) queueMicrotask(sendNext);
    return promise;
  };
}
