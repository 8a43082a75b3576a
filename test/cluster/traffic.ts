import { setTimeout } from 'node:timers/promises';
import type { Postgres } from './postgres.ts';
import { type Scope, until } from './programs.ts';
import { BOT } from './replicas.ts';

/** What clients saw during an event. */
export type Figures = {
  /** Answered chats. */
  answered: number;
  /** Answered chats that the database does not have. */
  lost: number;
  /** Sessions and runs that do not end within a minute. */
  stuck: number;
  /** The longest time between two answers, in milliseconds. */
  gapMs: number;
  /** The part of it in which the event made the database unavailable, in milliseconds. */
  awayMs: number;
  /** The errors of chats. */
  errors: string[];
};

/** Clients that chat one after the other, each in a session of its own, on both processes in turn. */
export type Traffic = {
  /** Waits until each client has so many further answers. */
  answers(count: number): Promise<void>;
  /** Marks the begin of an event. */
  begin(): void;
  /** Marks that the event is over: from here on, answers must come. */
  over(): void;
  /** Stops the clients, and looks for what is lost and stuck in the database. */
  stop(postgres: Postgres, database?: string): Promise<Figures>;
};

const CLIENTS = 6;
const PACE_MS = 20;
const REQUEST_LIMIT_MS = 60_000;
const STUCK_AFTER_MS = 60_000;

/** @param urls of the processes. */
export function startTraffic(urls: string[], apiKey: string, { signal, stack }: Scope): Traffic {
  const stopped = new AbortController();
  const acknowledged: string[] = [];
  const errors: string[] = [];
  let answerAt = performance.now();
  let gapMs = 0;
  let beganAt: number | undefined;
  let overAt: number | undefined;
  const counts = Array.from({ length: CLIENTS }, () => 0);

  const chat = async (client: number, number: number) => {
    const url = urls[(client + number) % urls.length];
    const response = await fetch(`${url}/v1/bots/${BOT}/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'x-session-id': `client-${client}`,
      },
      body: JSON.stringify({ message: `Message ${number}` }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    return String(JSON.parse(text).run_id);
  };

  const work = async (client: number) => {
    for (let number = 0; !stopped.signal.aborted; number += 1) {
      try {
        acknowledged.push(await chat(client, number));
        const now = performance.now();
        if (beganAt !== undefined) gapMs = Math.max(gapMs, now - answerAt);
        answerAt = now;
        counts[client] = (counts[client] ?? 0) + 1;
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error));
      }
      await setTimeout(PACE_MS);
    }
  };
  const working = Promise.all(counts.map((_count, client) => work(client)));
  const end = async () => {
    stopped.abort();
    await working;
  };
  stack.defer(end);

  const answers = async (count: number) => {
    const goals = counts.map((one) => one + count);
    const isReached = async () => counts.every((one, client) => one >= (goals[client] ?? 0));
    await until(isReached, 'answers', { signal, limitMs: REQUEST_LIMIT_MS });
  };

  return {
    answers,
    begin() {
      beganAt = performance.now();
      answerAt = beganAt;
    },
    over() {
      overAt = performance.now();
    },
    async stop(postgres, database) {
      await end();
      const stored = await postgres.query<{ id: string }>(
        "SELECT id FROM runs WHERE status = 'COMPLETED'",
        [],
        database,
      );
      const known = new Set(stored.map(({ id }) => id));
      return {
        answered: acknowledged.length,
        lost: acknowledged.filter((id) => !known.has(id)).length,
        stuck: await countStuck(postgres, database, signal),
        gapMs,
        awayMs: (overAt ?? 0) - (beganAt ?? 0),
        errors,
      };
    },
  };
}

/** Counts the runs and the turns that nobody ends, although no client waits. */
async function countStuck(
  postgres: Postgres,
  database: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  let stuck = 0;
  const isOver = async () => {
    const [row] = await postgres.query<{ count: number }>(
      `SELECT
      (SELECT count(*) FROM runs WHERE status IN ('RUNNING', 'QUEUED'))::int
      + (SELECT count(*) FROM sessions WHERE lease_id IS NOT NULL)::int
      + (SELECT count(*) FROM turn_waiters)::int AS count`,
      [],
      database,
    );
    stuck = row?.count ?? 0;
    return stuck === 0;
  };
  await until(isOver, 'runs to end', { signal, limitMs: STUCK_AFTER_MS }).catch(() => {});
  return stuck;
}
