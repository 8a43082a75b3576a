import { Agent } from 'node:http';
import { createClient } from './client.ts';
import { type Limits, percentile, type Round, runRound } from './load.ts';
import type { Target } from './targets.ts';
import { createConversation, MODES, type Mode } from './workload.ts';

/** The duration of the measurements. */
export type Plan = {
  /** The chats with each server at the start, half of them in each mode, until its code is compiled. */
  firstWarmUp: number;
  /** The chats with each server before each case, until its code is compiled for the case. */
  warmUp: number;
  round: Limits;
  rounds: number;
  /** The chats of each server after which its memory is read. */
  chatsOfMemory: number;
  /** The starts of each server. */
  starts: number;
};

/** One way to use a server. */
export type Case = { connections: number; mode: Mode };

/** The result of a server in one case: the medians of its rounds, the number of all its chats, and all failures. */
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
      const [failure] = (await run(chats(firstWarmUp / MODES.length))).failures;
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
  for (const { run } of runners) await run(chats(warmUp));
  for (let number = 0; number < rounds; number += 1) {
    for (const { run, measured } of rotate(runners, number)) measured.push(await run(round));
  }
  signal.throwIfAborted();
  return runners.map(({ name, measured }) => ({ target: name, ...summarize(measured) }));
}

/**
 * The memory of a server after a number of chats since its start, in bytes.
 *
 * @param served the chats that it has served.
 */
export async function memoryAfter(
  target: Target,
  served: number,
  { chatsOfMemory }: Plan,
  signal: AbortSignal,
): Promise<number> {
  using stack = new DisposableStack();
  const left = Math.max(0, chatsOfMemory - served);
  for (const mode of MODES) {
    const run = createRunner(target, { connections: WARM_UP_CONNECTIONS, mode }, signal, stack);
    await run(chats(left / MODES.length));
  }
  signal.throwIfAborted();
  return (await target.figures()).memory;
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
  const conversations = Array.from({ length: connections }, createConversation);
  return (limits) => runRound(target, sendChat, conversations, limits, signal);
}

function chats(chats: number): Limits {
  return { ms: Number.POSITIVE_INFINITY, chats };
}

/** The same items in another order, so that no item always follows the same one. */
function rotate<T>(items: T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function summarize(rounds: Round[]): Round {
  const median = (figure: (round: Round) => number) => percentile(rounds.map(figure), 0.5);
  return {
    chats: rounds.reduce((sum, { chats }) => sum + chats, 0),
    chatsPerSecond: median(({ chatsPerSecond }) => chatsPerSecond),
    p50: median(({ p50 }) => p50),
    p99: median(({ p99 }) => p99),
    firstByte: median(({ firstByte }) => firstByte),
    cpu: median(({ cpu }) => cpu),
    gcShare: median(({ gcShare }) => gcShare),
    lag: median(({ lag }) => lag),
    failures: rounds.flatMap(({ failures }) => failures),
  };
}
