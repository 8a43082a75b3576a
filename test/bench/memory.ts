import { Agent } from 'node:http';
import { startServer } from './child.ts';
import { createClient } from './client.ts';
import { runRound } from './load.ts';
import { freshDatabase } from './postgres.ts';
import { startParley, type TargetOptions } from './targets.ts';
import { createConversation, MODES, TURNS } from './workload.ts';

/** The number of chats since the start after each of which the memory is read, in ascending order. */
export type MemoryPlan = readonly number[];

const CONNECTIONS = 32;

/**
 * Measures the memory of one process of Parley on PostgreSQL while it serves more and more chats, ten in each session.
 * Between two readings, half of the chats are streamed.
 *
 * @throws an error if a chat fails; the signal's reason if it is aborted.
 */
export async function benchMemory(
  plan: MemoryPlan,
  options: TargetOptions & { postgresUrl: string },
): Promise<void> {
  const { postgresUrl, signal, stack } = options;
  const { url } = await startServer({ file: 'upstream.ts', signal, stack });
  const databaseUrl = await freshDatabase(postgresUrl, stack);
  const parley = await startParley('Parley on PostgreSQL', `${url}/v1`, options, databaseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  stack.defer(() => agent.destroy());
  const clients = MODES.map((mode) => createClient(parley, mode, agent));
  const conversations = Array.from({ length: CONNECTIONS }, createConversation);

  print(['chats', 'sessions', 'resident', 'CPU per chat', 'chats a second']);
  print(['--:', '--:', '--:', '--:', '--:']);
  const line = (chats: number, bytes: number, more: string[]) =>
    print([`${chats}`, `${Math.ceil(chats / TURNS)}`, `${(bytes / 1e6).toFixed(0)} MB`, ...more]);
  line(0, (await parley.figures()).memory, ['', '']);
  let served = 0;
  for (const until of plan) {
    const before = await parley.figures();
    const [startedAt, chats] = [performance.now(), until - served];
    for (const [index, sendChat] of clients.entries()) {
      const limit = until - Math.floor((chats * (clients.length - 1 - index)) / clients.length);
      const limits = { ms: Number.POSITIVE_INFINITY, chats: limit - served };
      const round = await runRound(parley, sendChat, conversations, limits, signal);
      signal.throwIfAborted();
      const [failure] = round.failures;
      if (failure !== undefined) throw new Error(`A chat failed: ${failure}\n${parley.output()}`);
      served += round.chats;
    }
    const after = await parley.figures();
    const seconds = (performance.now() - startedAt) / 1_000;
    const cpu = (after.cpuMs - before.cpuMs) / chats;
    line(until, after.memory, [`${cpu.toFixed(2)} ms`, (chats / seconds).toFixed(0)]);
  }
}

/** Prints a row of a Markdown table. */
function print(cells: string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}
