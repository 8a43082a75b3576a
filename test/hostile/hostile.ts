/**
 * `npm run test:hostile`: attacks a real server with a heap of 512 MB from four processes for two minutes, while an
 * honest tenant chats. Fails if the honest tenant is affected, if the server grows or exits, or if a tenant reads another's
 * data.
 *
 * `--seconds N` is the duration; `--short` is 20 seconds with wider bounds, for a busy machine; `--seed N` repeats the
 * order of attacks. TEST_DATABASE_URL and TEST_REDIS_URL select the services; without them the server uses PGlite. All
 * traffic stays on loopback.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Child, launch, startServer } from '../bench/child.ts';
import { percentile } from '../bench/load.ts';
import { freshDatabase } from '../bench/postgres.ts';
import { align } from '../bench/report.ts';
import { startParley } from '../bench/targets.ts';
import { MESSAGE } from '../bench/workload.ts';
import type { Target } from './attack.ts';
import type { Report } from './attacker.ts';
import { type Observation, observe } from './honest.ts';
import { createAccount, createBot, createHostileAccounts, graphqlAt } from './tenants.ts';

const ATTACKERS = 4;
const HEAP_MEBIBYTES = 512;
const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
});
const seconds = Number(values.seconds ?? (values.short ? 20 : 120));
/** A busy machine is slower, but not as slow as a server that hangs. */
const slack = values.short ? 5 : 1;
const BOUNDS = { chatMs: 2_000 * slack, healthMs: 1_000 * slack, memoryMebibytes: 700 };

/** The resident set of a process in MiB. */
async function residentSet(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Starts an attacking process, and waits until it attacks. @returns a function that stops it. */
async function startAttacker(
  target: Target,
  number: number,
  signal: AbortSignal,
  stack: AsyncDisposableStack,
): Promise<() => Promise<Report>> {
  const args = [JSON.stringify(target), String(number), values.seed];
  const { child, output } = launch({ file: '../hostile/attacker.ts', args, signal, stack });
  // Without stderr, whose warnings may arrive between two pieces of the report.
  let printed = '';
  child.stdout?.on('data', (chunk: string) => {
    printed += chunk;
  });
  const closed = once(child, 'close');
  // A signal to stop that arrives before the process can receive it would end it without a report.
  await Promise.race([once(child, 'message'), closed]);
  return async () => {
    child.kill('SIGTERM');
    const [code] = await closed;
    if (code !== 0) throw new Error(`An attacking process failed:\n${output()}`);
    return JSON.parse(printed) as Report;
  };
}

/** Adds up the reports of all processes. */
function sum(reports: Report[]): Report {
  const total: Report = { outcomes: {}, leaks: reports.flatMap(({ leaks }) => leaks) };
  for (const { outcomes } of reports) {
    for (const [name, counts] of Object.entries(outcomes)) {
      const all = { ...total.outcomes[name] };
      for (const [outcome, count] of Object.entries(counts))
        all[outcome] = (all[outcome] ?? 0) + count;
      total.outcomes[name] = all;
    }
  }
  return total;
}

function print({ outcomes }: Report, { chats, health, memory }: Observation) {
  const rows = Object.entries(outcomes).sort(([one], [other]) => one.localeCompare(other));
  const cells = rows.map(([name, counts]) => [
    name,
    Object.entries(counts)
      .map(([outcome, count]) => `${count} x ${outcome}`)
      .join(', '),
  ]);
  console.log(`${align(cells)}\n`);
  const times = (all: number[]) =>
    `p50 ${percentile(all, 0.5).toFixed(0)} ms, p99 ${percentile(all, 0.99).toFixed(0)} ms, max ${Math.max(...all).toFixed(0)} ms`;
  console.log(`Honest chats: ${chats.length}, ${times(chats)}.`);
  console.log(`/healthz: ${health.length}, ${times(health)}.`);
  console.log(`Memory: ${memory.toFixed(0)} MiB maximum.`);
}

/** The bounds that were exceeded, and other failures. */
function problemsOf(
  { leaks, outcomes }: Report,
  { chats, failures, health, memory }: Observation,
  server: Child,
) {
  const problems = [...new Set(leaks)].map((name) => `"${name}" read the honest tenant's text`);
  if (failures[0])
    problems.push(`${failures.length} honest requests failed, the first with: ${failures[0]}`);
  const chatMs = percentile(chats, 0.99);
  if (!(chatMs <= BOUNDS.chatMs)) problems.push(`an honest chat took ${chatMs} ms (p99)`);
  const healthMs = percentile(health, 0.99);
  if (!(healthMs <= BOUNDS.healthMs)) problems.push(`/healthz took ${healthMs} ms (p99)`);
  if (!(memory <= BOUNDS.memoryMebibytes)) problems.push(`the server took ${memory} MiB`);
  if (server.ending() !== null) problems.push(`the server ended:\n${server.output()}`);
  if (Object.keys(outcomes).length === 0) problems.push('no attack was performed');
  return problems;
}

async function run(signal: AbortSignal): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const { TEST_DATABASE_URL: postgresUrl, TEST_REDIS_URL: redisUrl } = process.env;
  const databaseUrl = postgresUrl && (await freshDatabase(postgresUrl, stack));
  const options = { redisUrl, signal, stack };
  const model = await startServer({ file: 'upstream.ts', signal, stack });
  const hostile = await startServer({ file: '../hostile/upstream.ts', signal, stack });
  const env = {
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEBIBYTES}`,
    PARLEY_ALLOWED_HOSTS: new URL(hostile.url).host,
    LOG_LEVEL: 'error',
  };
  const parley = await startParley('Parley', `${model.url}/v1`, { ...options, env }, databaseUrl);
  const graphql = graphqlAt(parley.url);
  const honest = await createAccount(graphql, parley.apiKey, 'Honest');
  await createBot(graphql, honest.apiKey, 'honest', 'prompt "You are honest."');
  const accounts = await createHostileAccounts(graphql, parley.apiKey, hostile.url);
  const target = { url: parley.url, hostileUrl: hostile.url, accounts, canary: MESSAGE };
  const numbers = Array.from({ length: ATTACKERS }, (_, number) => number);
  console.log(`Attacking for ${seconds} s, with the seed ${values.seed}.\n`);
  const stopAttackers = await Promise.all(
    numbers.map((number) => startAttacker(target, number, signal, stack)),
  );
  const over = new AbortController();
  const observing = observe(
    {
      ...parley,
      chatUrl: `${parley.url}/v1/bots/honest/chat`,
      headers: { authorization: `Bearer ${honest.apiKey}` },
    },
    {
      url: parley.url,
      memory: () => residentSet(parley.pid),
      signal: AbortSignal.any([over.signal, signal]),
    },
  );
  await Promise.race([setTimeout(seconds * 1_000, undefined, { signal }), parley.closed]);
  const report = sum(await Promise.all(stopAttackers.map((stop) => stop())));
  over.abort();
  const observation = await observing;
  print(report, observation);
  return problemsOf(report, observation, parley);
}

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
const problems = await run(interruption.signal);
for (const problem of problems) console.error(`Failed: ${problem}`);
if (problems.length === 0) console.log('All checks passed.');
process.exitCode = problems.length > 0 ? 1 : 0;
