/**
 * `npm run test:cluster`: starts PostgreSQL with a standby, PgBouncer, HAProxy, Redis with a replica and Sentinel as separate
 * processes on loopback, with two processes of Parley, and plays what happens to them in a cluster. Prints a table: what
 * happened, and how many answers were lost, how many runs are stuck, and how long no client got an answer. Fails if one
 * event does not go as promised.
 *
 * Usage: node cluster.ts [NAME OF PLAYS, …]
 */
import { align } from '../bench/report.ts';
import type { Event, Play } from './event.ts';
import { playKilled } from './events/killed.ts';
import { playPgBouncer } from './events/pgbouncer.ts';
import { playPostgres } from './events/postgres.ts';
import { playRedis } from './events/redis.ts';
import { playStart } from './events/start.ts';
import { install } from './replicas.ts';

const PLAYS: Record<string, Play> = {
  postgres: playPostgres,
  pgbouncer: playPgBouncer,
  redis: playRedis,
  start: playStart,
  killed: playKilled,
};

const HEAD = ['event', 'answers', 'failed', 'lost', 'stuck', 'longest gap', 'unavailable', 'seen'];

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
const { signal } = interruption;

function rowOf({ name, figures, seen = '', problems }: Event): string[] {
  const outcome = problems.length > 0 ? 'FAILED' : seen;
  if (!figures) return [name, '', '', '', '', '', '', outcome];
  const { answered, errors, lost, stuck, gapMs, awayMs } = figures;
  const counts = [answered, errors.length, lost, stuck].map(String);
  const times = [gapMs, awayMs].map((ms) => `${(ms / 1_000).toFixed(1)} s`);
  return [name, ...counts, ...times, outcome];
}

function print({ name, problems }: Event): void {
  console.log(`${problems.length > 0 ? 'FAILED' : 'ok    '}  ${name}`);
  for (const problem of problems) console.log(`        ${problem}`);
}

/** An error ends the events of a play. */
async function* playOne(name: string, play: Play, ...args: Parameters<Play>) {
  try {
    yield* play(...args);
  } catch (error) {
    signal.throwIfAborted();
    const { message, cause } = error as Error;
    yield { name, problems: [[message, ...(cause ? [String(cause)] : [])].join(': ')] };
  }
}

/** Plays wait most of the time, so two run at once. */
const LANES = 2;

async function playAll(names: string[]): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const installation = await install({ signal, stack });
  const events = new Map<string, Event[]>(names.map((name) => [name, []]));
  const queue = names.values();
  const lane = async () => {
    for (const name of queue) {
      const play = PLAYS[name];
      if (!play) throw new Error(`No play ${name}, only ${Object.keys(PLAYS).join(', ')}.`);
      await using own = new AsyncDisposableStack();
      for await (const event of playOne(name, play, installation, { signal, stack: own })) {
        print(event);
        events.get(name)?.push(event);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const all = [...events.values()].flat();
  console.log(`\n${align([HEAD, ...all.map(rowOf)])}\n`);
  return all.filter(({ problems }) => problems.length > 0).length;
}

const [, , ...names] = process.argv;
const failed = await playAll(names.length > 0 ? names : Object.keys(PLAYS));
console.log(failed > 0 ? `${failed} events failed.` : 'All events went as promised.');
process.exitCode = failed > 0 ? 1 : 0;
