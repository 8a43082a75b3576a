import { startPeriodic } from '../async/periodic.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { Sql } from '../storage/sql.ts';
import { statement } from '../storage/sql.ts';
import type { PubSub } from './pubsub.ts';
import type { Owner } from './worker-lease.ts';

/** A question about the database that a background task asks again and again. */
export type Look = {
  /** A noun phrase for what `onAnswer` does, for log lines. */
  what: string;
  /** A condition without parameters. `requested.id` is the id of this process as an owner. */
  condition: Prisma.Sql;
  /**
   * Gets each answer, except while it still works on an earlier one. Its failure is logged.
   *
   * @param signal aborts when the looks end.
   */
  onAnswer(isTrue: boolean, signal: AbortSignal): unknown;
};

/**
 * The questions of all background tasks of a process, in one statement: a process without work executes this one and its
 * heartbeat, whatever the number of tasks.
 */
export type Looks = {
  /** Adds a question, before the start. */
  add(look: Look): void;
  /** Asks all questions once. Its statement begins after the call. Does not reject. */
  now(): Promise<void>;
  /** Asks at once and every 4 seconds, until it is disposed of. The disposal waits for what the answers have begun. */
  start(): AsyncDisposable;
};

/** The longest time until work is found whose notification was lost, or which waited for a time. */
export const LOOK_EVERY_MS = 4_000;

export function createLooks({
  sql,
  owner,
  log,
}: {
  sql: Sql;
  owner: Pick<Owner, 'id'>;
  log: Pick<Log, 'error'>;
}): Looks {
  const looks: Look[] = [];
  const working = new Map<Look, Promise<void>>();
  const closed = new AbortController();
  const { signal } = closed;
  let asking: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const failed = (err: unknown, what: string) =>
    log.error({ err }, `${what} failed. It will be retried.`);

  const deliver = (look: Look, isTrue: boolean) => {
    if (working.has(look) || signal.aborted) return;
    const act = async () => {
      await look.onAnswer(isTrue, signal);
    };
    const work = act()
      .catch((err) => failed(err, look.what))
      .finally(() => working.delete(look));
    working.set(look, work);
  };

  const ask = async () => {
    const answers = looks.map(({ condition }, index) => `(${condition.text}) AS "${index}"`);
    const question = statement(
      `SELECT ${answers.join(', ')} FROM json_to_record($1) AS requested (id text)`,
    );
    const [row] = await sql<Record<number, boolean>>(question, [
      JSON.stringify({ id: owner.id() }),
    ]);
    for (const [index, look] of looks.entries()) deliver(look, row?.[index] === true);
  };

  const now = (): Promise<void> => {
    if (signal.aborted) return Promise.resolve();
    // A statement that has begun may not see what the caller has seen.
    if (asking) next ??= asking.then(now);
    else {
      next = undefined;
      asking = ask()
        .catch((err) => failed(err, 'The look for work'))
        .finally(() => {
          asking = undefined;
        });
    }
    return next ?? asking ?? Promise.resolve();
  };

  return {
    add(look) {
      if (look.condition.values.length > 0) throw new Error(`${look.what} has parameters.`);
      looks.push(look);
    },
    now,
    start() {
      const task = startPeriodic(now, { everyMs: LOOK_EVERY_MS, isImmediate: true });
      return {
        async [Symbol.asyncDispose]() {
          closed.abort();
          await task[Symbol.asyncDispose]();
          await Promise.all([asking, next, ...working.values()]);
        },
      };
    },
  };
}

/** Wakes workers while work is due: a notification may be lost, and the delay of a retry ends without one. */
export function wakeWhile({
  pubsub,
  channel,
  ...look
}: Pick<Look, 'what' | 'condition'> & { pubsub: PubSub; channel: string }): Look {
  return { ...look, onAnswer: (isTrue) => (isTrue ? pubsub.publish(channel, '') : undefined) };
}
