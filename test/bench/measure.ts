import { Agent } from 'node:http';
import { createClient } from './client.ts';
import { type Limits, percentile, type Round, runRound } from './load.ts';
import type { Target } from './targets.ts';
import { MODES, type Mode } from './workload.ts';

/** The duration of the measurements. */
export type Plan = {
  /** For each server in each mode, at the start, until its code is compiled. */
  firstWarmUp: Limits;
  /** For each server before each case, until its code is compiled for the case. */
  warmUp: Limits;
  round: Limits;
  rounds: number;
};

/** One way to use a server. */
export type Case = { connections: number; mode: Mode };

/** The result of a server in one case: the medians of its rounds, and all failures. */
export type Result = Round & { target: string };

const WARM_UP_CONNECTIONS = 32;

/** @throws an error if a server does not reply correctly; the signal's reason if it is aborted. */
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
 * Measures all servers in one case. Every round includes all servers, so that other load on the machine affects all of them
 * equally.
 *
 * @throws the signal's reason if it is aborted.
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

/** Runs rounds on connections that stay open until the stack is disposed of. */
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

/** The same items in another order, so that no item always follows the same one. */
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
