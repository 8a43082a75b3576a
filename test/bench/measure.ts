import { Agent } from 'node:http';
import { createClient } from './client.ts';
import { type Limits, percentile, type Round, runRound } from './load.ts';
import type { Target } from './targets.ts';
import { MODES, type Mode } from './workload.ts';

/** How much is measured. */
export type Plan = {
  /** For each server in each mode, before everything else: until its code is compiled. */
  firstWarmUp: Limits;
  /** For each server, before each case: until its code is compiled for that, too. */
  warmUp: Limits;
  round: Limits;
  rounds: number;
};

/** One way to use a server. */
export type Case = { connections: number; mode: Mode };

/** What a server did in one case: the median of its rounds for each figure, and everything that failed. */
export type Result = Round & { target: string };

const WARM_UP_CONNECTIONS = 32;

/** @throws an error when a server does not answer as it should; the signal's reason when it is aborted. */
export async function warmUp(
  targets: Target[],
  { firstWarmUp }: Plan,
  signal: AbortSignal,
): Promise<void> {
  using stack = new DisposableStack();
  for (const mode of MODES) {
    for (const target of targets) {
      const run = createRunner(target, { connections: WARM_UP_CONNECTIONS, mode }, signal, stack);
      const [failure] = (await run(firstWarmUp)).failures;
      signal.throwIfAborted();
      if (failure) {
        throw new Error(`${target.name} does not work: ${failure}\n${target.output()}`);
      }
    }
  }
}

/**
 * Measures all servers in one case: round after round in which all have their turn, so that whatever else the
 * machine does meets all of them alike.
 *
 * @throws the signal's reason when it is aborted.
 */
export async function measure(
  targets: Target[],
  each: Case,
  { warmUp, round, rounds }: Plan,
  signal: AbortSignal,
): Promise<Result[]> {
  using stack = new DisposableStack();
  const runners = targets.map((target) => ({
    name: target.name,
    run: createRunner(target, each, signal, stack),
    measured: [] as Round[],
  }));
  for (const { run } of runners) await run(warmUp);
  for (let number = 0; number < rounds; number += 1) {
    for (const { run, measured } of rotate(runners, number)) measured.push(await run(round));
  }
  signal.throwIfAborted();
  return runners.map(({ name, measured }) => ({ target: name, ...summarize(measured) }));
}

/** A way to run rounds on connections that stay open until the stack is disposed of. */
function createRunner(
  target: Target,
  { connections, mode }: Case,
  signal: AbortSignal,
  stack: DisposableStack,
): (limits: Limits) => Promise<Round> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  stack.defer(() => agent.destroy());
  const sendChat = createClient(target, mode, agent);
  return (limits) => runRound(target, sendChat, connections, limits, signal);
}

/** The same in another order: nobody always comes after the same other. */
function rotate<T>(items: T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function summarize(rounds: Round[]): Round {
  const median = (values: number[]) => percentile(values, 0.5);
  const cpus = rounds.flatMap(({ cpu }) => cpu ?? []);
  return {
    chatsPerSecond: median(rounds.map(({ chatsPerSecond }) => chatsPerSecond)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    firstByte: median(rounds.map(({ firstByte }) => firstByte)),
    cpu: cpus.length > 0 ? median(cpus) : undefined,
    failures: rounds.flatMap(({ failures }) => failures),
  };
}
