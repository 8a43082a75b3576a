/**
 * `npm run bench`: measures the cost of a chat in Parley next to two references, in one interleaved run. It takes about
 * 15 minutes; with `--quick` about one, with rougher figures. It prints figures without judging them, and fails only
 * if a response is not a whole reply. With `--against PATH`, it measures another checkout of Parley in place of Parley
 * on PGlite, to compare a change with the code before it.
 *
 * `npm run bench -- --runs`: measures pages of runs among a million, on PostgreSQL, in about a minute.
 *
 * `npm run bench -- --web`: measures how fast and how heavy the console is, in Chromium, in about
 * 20 minutes; with `--quick` in about 2.
 *
 * `npm run bench -- --memory`: measures the memory of one process during 50,000 chats over 5,000 sessions, on
 * PostgreSQL, in about 5 minutes; with `--quick` during 2,000 chats.
 *
 * `npm run bench -- --streams`: measures streamed chats of several seconds, on PostgreSQL, in about 2 minutes. `--queue`:
 * measures background runs, on PostgreSQL, in about a minute. `--month`: measures the statistics and lists of a bot with a
 * million runs in a month, on PostgreSQL, in about 3 minutes. `--year`: the same with ten million runs in a year, in about half
 * an hour and 25 GB. All four with `--against PATH` measure another checkout.
 *
 * `npm run bench -- --tools`: measures chats with one call of a tool that reads, on PostgreSQL, in about a minute; with
 * `--against PATH` in turns with another checkout.
 *
 * `npm run bench -- --openai`: measures a chat completion next to a chat over REST, and a list of models, on PostgreSQL, in
 * about a minute.
 *
 * `npm run bench -- --evaluations`: measures evaluations of 500 recorded runs, on PostgreSQL, in about 3 minutes; with
 * `--quick` in about one.
 *
 * `npm run bench -- --subscribers`: measures chats of a bot that up to 1,000 clients follow, in about 2 minutes; `--idle`: a
 * process without requests, in about 4 minutes. Both on PostgreSQL, `--idle` also on the embedded database.
 *
 * `npm run bench -- --disk`: measures how much of the disk a chat takes, on PostgreSQL, in about 2 minutes.
 *
 * `npm run bench -- --command`: measures how fast the command starts, in a few seconds.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { benchCommand } from './command.ts';
import { definitionLine } from './definition.ts';
import { benchDisk } from './disk.ts';
import { benchEvaluations, type EvaluationPlan } from './evaluations.ts';
import { type Footprint, installedBytes, measureStarts } from './footprint.ts';
import { benchIdle } from './idle.ts';
import { type Case, measure, memoryAfter, type Plan, warmUp } from './measure.ts';
import { benchMemory, type MemoryPlan } from './memory.ts';
import { benchMonth, MONTH, YEAR } from './month.ts';
import { benchOpenAi } from './openai.ts';
import { benchQueue } from './queue.ts';
import { type CaseResults, caseTable, markdownTable } from './report.ts';
import { benchRuns } from './runs.ts';
import { benchStreams } from './streams.ts';
import { benchSubscribers } from './subscribers.ts';
import { prepareServers, startTarget, type Target, type TargetOptions } from './targets.ts';
import { benchTools } from './tools.ts';
import { benchWeb, type WebPlan } from './web.ts';
import { MODES } from './workload.ts';

const FULL: Plan = {
  firstWarmUp: 6_000,
  warmUp: 1_000,
  round: { ms: 3_000, chats: 1_000 },
  rounds: 5,
  chatsOfMemory: 50_000,
  starts: 5,
};
const QUICK: Plan = {
  firstWarmUp: 1_000,
  warmUp: 0,
  round: { ms: 250, chats: 2_000 },
  rounds: 3,
  chatsOfMemory: 0,
  starts: 1,
};
const FULL_WEB: WebPlan = { loads: 5, replies: 500, runs: 1_000_000, liveSeconds: 600 };
const QUICK_WEB: WebPlan = { loads: 3, replies: 50, runs: 100_000, liveSeconds: 10 };
const FULL_MEMORY: MemoryPlan = [5_000, 12_500, 25_000, 50_000];
const QUICK_MEMORY: MemoryPlan = [500, 1_000, 2_000];
const FULL_EVALUATIONS: EvaluationPlan = { rounds: 3, chats: 2_000 };
const QUICK_EVALUATIONS: EvaluationPlan = { rounds: 1, chats: 200 };
const CASES: Case[] = MODES.flatMap((mode) =>
  [1, 32, 128].map((connections) => ({ connections, mode })),
);
/** 128 plus the number of SIGINT, the exit code that shells use. */
const INTERRUPTED = 130;

/** The PostgreSQL server. */
const postgresUrl = process.env.BENCH_DATABASE_URL || process.env.TEST_DATABASE_URL || undefined;
/** The Redis server. */
const redisUrl = process.env.BENCH_REDIS_URL || process.env.TEST_REDIS_URL || undefined;

/** @returns whether every chat succeeded. */
async function bench(plan: Plan, signal: AbortSignal, against?: URL): Promise<boolean> {
  if (!postgresUrl) console.log('Without BENCH_DATABASE_URL, this runs on PGlite only.\n');
  console.log(`${definitionLine()}\n`);
  await using stack = new AsyncDisposableStack();
  const { servers, base } = await prepareServers({ postgresUrl, redisUrl, signal, stack }, against);
  const starts = await measureStarts(servers, plan.starts);
  const targets: Target[] = [];
  for (const server of servers) targets.push(await startTarget(server, stack));
  const idle = await Promise.all(targets.map(({ figures }) => figures()));
  await warmUp(targets, plan, signal);
  const all: CaseResults[] = [];
  for (const each of CASES) {
    const results = { case: each, results: await measure(targets, each, plan, signal) };
    console.log(caseTable(results, base));
    all.push(results);
  }
  const installed = await installedBytes(signal);
  const footprints: Footprint[] = [];
  for (const [index, target] of targets.entries()) {
    const served = all.reduce((sum, { results }) => sum + (results[index]?.chats ?? 0), 0);
    footprints.push({
      target: target.name,
      startMs: starts[index] ?? Number.NaN,
      idle: idle[index]?.memory ?? Number.NaN,
      after: await memoryAfter(target, plan.firstWarmUp + served, plan, signal),
      installed: target.name.startsWith('Parley') ? installed : undefined,
    });
  }
  console.log(`Medians of ${plan.rounds} interleaved rounds; ratios to "${base}".`);
  console.log('CPU is the time of the server process only, which on PGlite includes the database.');
  console.log(`Memory is read after ${plan.chatsOfMemory} chats.\n`);
  console.log(`${markdownTable(all, footprints, base)}\n`);
  return targets.map((target) => reportFailures(target, all)).every((failed) => !failed);
}

async function benchLists(signal: AbortSignal): Promise<boolean> {
  if (!postgresUrl)
    throw new Error('The list of runs is measured on PostgreSQL: set BENCH_DATABASE_URL.');
  await using stack = new AsyncDisposableStack();
  await benchRuns({ postgresUrl, signal, stack });
  return true;
}

async function benchConsole(plan: WebPlan, signal: AbortSignal): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  await benchWeb(plan, { postgresUrl, signal, stack });
  return true;
}

async function benchLoad(plan: MemoryPlan, signal: AbortSignal): Promise<boolean> {
  if (!postgresUrl) throw new Error('Memory is measured on PostgreSQL: set BENCH_DATABASE_URL.');
  await using stack = new AsyncDisposableStack();
  await benchMemory(plan, { postgresUrl, redisUrl, signal, stack });
  return true;
}

async function benchStarts(rounds: number, signal: AbortSignal): Promise<boolean> {
  await benchCommand({ rounds }, signal);
  return true;
}

/** Prints the failures of a target. @returns whether there were any. */
function reportFailures({ name, output }: Target, all: CaseResults[]): boolean {
  const failures = all
    .flatMap(({ results }) => results.filter(({ target }) => target === name))
    .flatMap((result) => result.failures);
  if (failures.length === 0) return false;
  console.error(`${name}: ${failures.length} chats failed, the first with: ${failures[0]}`);
  console.error(`Its last output:\n${output()}`);
  return true;
}

async function benchRoot(
  measure: (options: TargetOptions & { postgresUrl: string }, root?: URL) => Promise<void>,
  signal: AbortSignal,
  root: URL | undefined,
): Promise<boolean> {
  if (!postgresUrl) throw new Error('This is measured on PostgreSQL: set BENCH_DATABASE_URL.');
  await using stack = new AsyncDisposableStack();
  await measure({ postgresUrl, redisUrl, signal, stack }, root);
  return true;
}

function chosen(signal: AbortSignal): Promise<boolean> {
  if (values.command) return benchStarts(values.quick ? 5 : 21, signal);
  if (values.memory) return benchLoad(values.quick ? QUICK_MEMORY : FULL_MEMORY, signal);
  if (values.web) return benchConsole(values.quick ? QUICK_WEB : FULL_WEB, signal);
  if (values.runs) return benchLists(signal);
  const against = values.against ? pathToFileURL(`${resolve(values.against)}/`) : undefined;
  if (values.streams) return benchRoot(benchStreams, signal, against);
  if (values.month || values.year) {
    const plan = values.year ? YEAR : MONTH;
    return benchRoot((options, root) => benchMonth(plan, options, root), signal, against);
  }
  if (values.tools) return benchRoot(benchTools, signal, against);
  if (values.disk) return benchRoot(benchDisk, signal, undefined);
  if (values.idle) return benchRoot(benchIdle, signal, undefined);
  if (values.subscribers) return benchRoot(benchSubscribers, signal, undefined);
  if (values.openai) return benchRoot(benchOpenAi, signal, undefined);
  if (values.evaluations) {
    const plan = values.quick ? QUICK_EVALUATIONS : FULL_EVALUATIONS;
    return benchRoot((options) => benchEvaluations(plan, options), signal, undefined);
  }
  if (values.queue) return benchRoot(benchQueue, signal, against);
  return bench(values.quick ? QUICK : FULL, signal, against);
}

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    command: { type: 'boolean', default: false },
    disk: { type: 'boolean', default: false },
    evaluations: { type: 'boolean', default: false },
    idle: { type: 'boolean', default: false },
    memory: { type: 'boolean', default: false },
    month: { type: 'boolean', default: false },
    year: { type: 'boolean', default: false },
    openai: { type: 'boolean', default: false },
    queue: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    runs: { type: 'boolean', default: false },
    streams: { type: 'boolean', default: false },
    subscribers: { type: 'boolean', default: false },
    tools: { type: 'boolean', default: false },
    web: { type: 'boolean', default: false },
  },
});
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
try {
  const answered = await chosen(interruption.signal);
  process.exitCode = answered ? 0 : 1;
} catch (error) {
  if (!interruption.signal.aborted) throw error;
  console.error('Interrupted.');
  process.exitCode = INTERRUPTED;
}
