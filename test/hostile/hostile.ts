/**
 * `npm run test:hostile`: attacks a real server with a heap of 512 MB, on the embedded database and on PostgreSQL, while an
 * honest tenant chats. First it runs the heaviest documents that admission accepts, alone and beside the chats; then four
 * processes attack for a minute. Fails if the event loop stalls, if the honest tenant's chats slow down or fail, if the
 * server grows or exits, or if a tenant reads another's data.
 *
 * `--seconds N` is the duration of the attacks on each database; `--short` is 15 seconds and the documents of a few types,
 * with wider bounds for a busy machine; `--seed N` repeats the order of attacks. Without TEST_DATABASE_URL only the embedded
 * database is attacked. TEST_REDIS_URL adds Redis to PostgreSQL. All traffic stays on loopback.
 */
import { parseArgs } from 'node:util';
import { percentile } from '../bench/load.ts';
import { align } from '../bench/report.ts';
import { attack, attackProblems, attackTable } from './attack-run.ts';
import { type AttackedServer, startAttackedServer } from './attacked-server.ts';
import { type Bounds, boundsFor } from './bounds.ts';
import { costProblems, costTable, runDocuments } from './documents/run.ts';
import { type Observation, observe } from './honest.ts';
import type { Waits } from './stalls.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
});
const { short: isShort, seed } = values;
const seconds = Number(values.seconds ?? (isShort ? 15 : 60));

/** One part of the run on one server. */
type Phase = {
  name: string;
  /** Whether the honest tenant chats meanwhile. */
  isObserved: boolean;
  /** @returns what is printed, and the problems. */
  act(): Promise<{ text: string; problems: string[] }>;
};

async function runOn(name: string, services: object, signal: AbortSignal): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  console.log(`== ${name}\n`);
  const bounds = boundsFor(isShort, { isEmbedded: !('postgresUrl' in services) });
  const server = await startAttackedServer(services, { signal, stack });
  const documents = (isObserved: boolean): Phase => ({
    name: isObserved ? 'The heaviest documents beside chats' : 'The heaviest documents',
    isObserved,
    async act() {
      const costs = await runDocuments(server, isShort, signal);
      return { text: costTable(costs), problems: costProblems(costs, bounds) };
    },
  });
  const attacks: Phase = {
    name: `Attacks for ${seconds} s, with the seed ${seed}`,
    isObserved: true,
    async act() {
      const report = await attack(server, { seconds, seed }, { signal, stack });
      return { text: attackTable(report), problems: attackProblems(report) };
    },
  };
  const phases = isShort
    ? [documents(true), attacks]
    : [documents(false), documents(true), attacks];
  const problems: string[] = [];
  for (const phase of phases) {
    problems.push(...(await runPhase(phase, server, bounds)));
    // The next phase would only repeat that the server has ended.
    if (server.parley.ending() !== null) break;
  }
  return problems.map((problem) => `${name}: ${problem}`);
}

async function runPhase(
  { name, isObserved, act }: Phase,
  { parley, honest, stalls, memory }: AttackedServer,
  bounds: Bounds,
): Promise<string[]> {
  await stalls.readPhase();
  const largestMemory = memory.measure();
  const over = new AbortController();
  const observing = isObserved ? observe(honest, over.signal) : undefined;
  const { text, problems } = await act();
  over.abort();
  const observation = await observing;
  if (parley.ending() !== null) problems.push(`the server ended:\n${parley.output()}`);
  const waits = parley.ending() === null ? await stalls.readPhase() : undefined;
  const measured = { ...observation, ...waits, memoryMebibytes: largestMemory() };
  console.log(`${name}\n${text}\n\n${figuresOf(measured)}\n`);
  return [...problems, ...problemsOf(measured, bounds)].map((problem) => `${name}: ${problem}`);
}

/** The figures of a phase. A server that has ended tells no waits. */
type Measured = Partial<Observation> & Partial<Waits> & { memoryMebibytes: number };

function figuresOf({ chats, requests, memoryMebibytes, ...waits }: Measured): string {
  const rows = [['Memory', `${memoryMebibytes.toFixed(0)} MiB at most`]];
  if (chats && chats.length > 0) {
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(chats, share).toFixed(0));
    rows.push(['Honest chats', `${chats.length}, p50 ${p50} ms, p99 ${p99} ms`]);
  }
  if (requests !== undefined) {
    const [stall, latency] = [waits.longestStallMs, waits.longestLatencyMs].map((ms = 0) =>
      ms.toFixed(0),
    );
    rows.push([
      '/healthz',
      `${requests}, longest stall ${stall} ms, longest latency ${latency} ms`,
    ]);
  }
  return align(rows);
}

function problemsOf(
  { chats = [], failures: failed = [], memoryMebibytes, requests, ...waits }: Measured,
  limits: Bounds,
): string[] {
  const problems: string[] = [];
  if (failed[0])
    problems.push(`${failed.length} honest chats failed, the first with: ${failed[0]}`);
  const chatMs = chats.length > 0 ? percentile(chats, 0.99) : 0;
  if (chatMs > limits.chatMs) problems.push(`an honest chat took ${chatMs.toFixed(0)} ms (p99)`);
  const { longestStallMs = 0, unanswered = 0 } = waits;
  if (unanswered > 0) problems.push(`${unanswered} requests of /healthz failed`);
  if (longestStallMs > limits.stallMs)
    problems.push(`the event loop stalled for ${longestStallMs.toFixed(0)} ms`);
  if (memoryMebibytes > limits.memoryMebibytes)
    problems.push(`the server took ${memoryMebibytes.toFixed(0)} MiB`);
  return problems;
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
const { TEST_DATABASE_URL: postgresUrl, TEST_REDIS_URL: redisUrl } = process.env;
const problems = await runOn('Embedded database', {}, interruption.signal);
if (postgresUrl) {
  problems.push(...(await runOn('PostgreSQL', { postgresUrl, redisUrl }, interruption.signal)));
}
for (const problem of problems) console.error(`Failed: ${problem}`);
if (problems.length === 0) console.log('All checks passed.');
process.exitCode = problems.length > 0 ? 1 : 0;
