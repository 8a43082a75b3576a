import type { ActiveDeployments } from '../deployments/active.ts';
import { fingerprintOf, type Repeatable } from '../idempotency/key.ts';
import { makeId } from '../ids.ts';
import type { Admission, LiveRun } from '../runs/active-runs.ts';
import type { RunOutcome } from '../runs/runs.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import type { OnBusy, TakeFree, Turns } from '../sessions/turns.ts';
import type { Job, Worker } from './run-executor.ts';
import {
  type BeginningWrites,
  onDisconnectOf,
  type RunRequest,
  type Start,
  type StartedRun,
} from './start.ts';

/** A validated message to a bot. */
export type ChatRequest = RunRequest & {
  message: string;
  /** `undefined` creates a session. */
  sessionId: string | undefined;
  /** Default: `ENQUEUE`. */
  onBusy: OnBusy | undefined;
};

/** Conversations with bots. Source: the API document, "Chat". */
export type Chat = {
  /**
   * Acquires the session's turn and starts a run in the background.
   *
   * @param signal aborts the wait for the turn when the caller disconnects.
   * @throws GatewayError `bot_not_deployed`, `session_busy`, `idempotency_conflict` or `rate_limit_exceeded`; then no
   *   run was created.
   */
  start(request: ChatRequest, signal: AbortSignal): Promise<StartedRun>;
};

export function createChat({
  activeDeployments,
  turns,
  worker,
  start,
}: {
  activeDeployments: ActiveDeployments;
  turns: Turns;
  worker: Worker;
  start: Start;
}): Chat {
  const begin = async (
    request: ChatRequest,
    place: Admission,
    also: BeginningWrites | undefined,
    signal: AbortSignal,
  ) => {
    const startedAt = performance.now();
    const { botId, botVersion, environment, channel, message, context, onBusy, traceparent } =
      request;
    const deployment = await activeDeployments.find(botId, environment, botVersion);
    const key = makeId('ses');
    const sessionId = request.sessionId ?? key;
    const onDisconnect = onDisconnectOf(request);
    const job: Job = {
      run: { botId, environment, channel, kind: 'CHAT', input: message, context, onDisconnect },
      deployment,
      task: { sessionId, message, context },
      traceparent,
      startedAt,
      effects: {
        begin: also,
        turn: (outcome, said) => messagesOf(message, outcome, said),
        ended: turns.wake,
      },
    };
    let begun: LiveRun | undefined;
    /** Acquires the turn and creates the run in one statement. Not used if the run needs further writes. */
    const takeFree: TakeFree = async (session, leaseId) => {
      const turn = await worker.startTurn(place, job, session, leaseId);
      begun = turn?.run;
      return turn?.session;
    };
    const session = await turns.take(
      { key, botId, environment, sessionId },
      {
        onBusy,
        signal: AbortSignal.any([signal, place.signal]),
        takeFree: also ? undefined : takeFree,
      },
    );
    if (begun) return begun;
    try {
      return await worker.start(place, { ...job, task: { ...job.task, session } });
    } catch (error) {
      await turns.release(session);
      throw error;
    }
  };

  return {
    start: (request, signal) =>
      start(request, repeatableOf(request), signal, (place, also) =>
        begin(request, place, also, signal),
      ),
  };
}

/** A completed turn stores all its messages, a cancelled one its partial response, a failed one nothing. */
function messagesOf(
  message: string,
  { status, response }: RunOutcome,
  messages: HistoryMessage[],
): HistoryMessage[] | undefined {
  if (status === 'FAILED') return undefined;
  const asked: HistoryMessage = { role: 'USER', text: message };
  if (status === 'COMPLETED') return [asked, ...messages];
  return response ? [asked, { role: 'ASSISTANT', text: response, toolCalls: [] }] : [asked];
}

function repeatableOf(request: ChatRequest): Repeatable | undefined {
  const {
    accountId,
    idempotencyKey: key,
    idempotencyNamespace: namespace,
    botId,
    environment,
    sessionId,
    message,
    context,
  } = request;
  if (key === undefined) return undefined;
  const input = [botId, environment, sessionId ?? null, message, context ?? null];
  return { accountId, namespace, key, fingerprint: fingerprintOf('chat', input) };
}
