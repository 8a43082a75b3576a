import type { Agent, AgentTask } from '../agent/agent.ts';
import { ModelError } from '../model/failure.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import type { JsonObject } from '../text/json.ts';
import { createCaseLedger, NO_TRACE } from './case-ledger.ts';
import type { MadeCall } from './case-result.ts';

/** What an agent answered to one message. */
export type Answer = {
  reply: string;
  output: JsonObject | undefined;
  calls: MadeCall[];
  messages: HistoryMessage[];
  promptTokens: number;
  completionTokens: number;
  latencyMs: number;
};

/** Sends one message to an agent, outside of any run. */
export async function converse(
  agent: Agent,
  task: Omit<AgentTask, 'trace' | 'ledger'>,
  signal: AbortSignal,
): Promise<Answer> {
  const { ledger, calls } = createCaseLedger();
  const startedAt = performance.now();
  const loop = await agent.begin({ ...task, trace: NO_TRACE, ledger }, signal);
  await loop.run(() => {});
  signal.throwIfAborted();
  const { response: reply, output, messages, usage } = loop.result;
  const { promptTokens, completionTokens } = usage();
  const latencyMs = Math.round(performance.now() - startedAt);
  return { reply, output, calls: calls(), messages, promptTokens, completionTokens, latencyMs };
}

/** The latest messages of a conversation, from the beginning of a turn. */
export function latest(history: readonly HistoryMessage[], limit: number): HistoryMessage[] {
  const messages = limit === 0 ? [] : history.slice(-limit);
  const start = messages.findIndex(({ role }) => role === 'USER' || role === 'SYSTEM');
  return start < 0 ? [] : messages.slice(start);
}

/** Failures of the model server, not of what was asked. */
const AWAY: ReadonlySet<ModelError['reason']> = new Set([
  'unauthorized',
  'not_found',
  'rate_limited',
  'server_error',
  'unreachable',
  'timeout',
]);

/** Whether an error says nothing about the definition, because the model server cannot be reached. */
export function isModelAway(error: unknown): boolean {
  return error instanceof ModelError && AWAY.has(error.reason);
}
