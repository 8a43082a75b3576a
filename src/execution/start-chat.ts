import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import type { Draft, Drafts } from '../deployments/drafts.ts';
import { invalidInput } from '../errors/errors.ts';
import { newClaim } from '../idempotency/claim.ts';
import type { Idempotency } from '../idempotency/runs.ts';
import type { ActiveRuns, Slot } from '../runs/life/active-runs.ts';
import type { Runs } from '../runs/life/runs.ts';
import { draftSessionId, type Sessions } from '../sessions/sessions.ts';
import type { OnBusy, Turns } from '../sessions/turns.ts';
import { makeId } from '../text/ids.ts';
import type { RunExecutor } from './run-executor.ts';
import type { TraceRun } from './run-trace.ts';
import {
  type EarlierRuns,
  onDisconnectOf,
  optionsOf,
  type RunRequest,
  repeatableOf,
  type StartedRun,
  startedRun,
} from './started-run.ts';

/** A validated message to a bot. */
export type ChatRequest = RunRequest & {
  message: string;
  /** `undefined` creates a session. */
  sessionId: string | undefined;
  /** Default: `ENQUEUE`. */
  onBusy: OnBusy | undefined;
  /** The run whose settled tool call the message is about. The message is then a notice of the server. */
  causedById?: string | undefined;
  /** A definition to run in place of the active deployment, in a session of drafts only. */
  draft?: Draft | undefined;
};

/**
 * Acquires the session's turn and starts a run in the background. Source: the API document, "Chat".
 *
 * @param signal aborts the wait for the turn when the caller disconnects.
 * @throws GatewayError `bot_not_deployed`, `session_busy`, `idempotency_conflict`, `rate_limit_exceeded`, `invalid_request`
 *   for a reserved session id, `run_not_found` with `replayOnly`, and for a draft `definition_invalid`; then this request
 *   created no run and holds no claim on its key.
 */
export type StartChat = (request: ChatRequest, signal: AbortSignal) => Promise<StartedRun>;

export function createStartChat({
  activeRuns,
  activeDeployments,
  drafts,
  sessions,
  turns,
  runs,
  idempotency,
  earlierRuns,
  traceRun,
  runExecutor,
}: {
  activeRuns: Pick<ActiveRuns, 'acquireSlot'>;
  activeDeployments: ActiveDeployments;
  drafts: Drafts;
  sessions: Pick<Sessions, 'isDraft' | 'assertNotReserved'>;
  turns: Turns;
  runs: Pick<Runs, 'begin'>;
  idempotency: Pick<Idempotency, 'notify' | 'release'>;
  earlierRuns: EarlierRuns;
  traceRun: TraceRun;
  runExecutor: RunExecutor;
}): StartChat {
  /** A draft must not read the history and memory of a user. */
  const prepareDraft = async ({ botId, environment, sessionId }: ChatRequest, draft: Draft) => {
    if (sessionId !== undefined && !(await sessions.isDraft({ botId, environment, sessionId }))) {
      const message = 'must be the session of an earlier chat with a draft, or absent';
      throw invalidInput([{ path: 'input.sessionId', message }]);
    }
    return drafts.prepare(botId, environment, draft);
  };

  const startChat: StartChat = async (request, signal) => {
    const startedAt = performance.now();
    const { botId, botVersion, environment, channel, entrance, keyId, client } = request;
    const { message, context, onBusy, draft, causedById, history } = request;
    const { outputSchema, withoutTools } = request;
    const input = [botId, environment, request.sessionId ?? null, message, context ?? null];
    const repeatable = repeatableOf(request, 'chat', [...input, ...optionsOf(request)]);
    if (request.replayOnly) return earlierRuns.get(repeatable, signal);
    if (request.sessionId !== undefined && channel === 'API') {
      const named = { botId, environment, sessionId: request.sessionId };
      await sessions.assertNotReserved(named, 'input.sessionId');
    }
    await using undo = new AsyncDisposableStack();

    let slot: Slot;
    let deployment: RunningDeployment;
    try {
      slot = undo.adopt(activeRuns.acquireSlot(request), ({ release }) => release());
      deployment = draft
        ? await prepareDraft(request, draft)
        : await activeDeployments.find(botId, environment, botVersion);
    } catch (error) {
      // A repeat gets the earlier run even if no run can begin now.
      await undo.disposeAsync();
      return earlierRuns.findOrThrow(error, repeatable, signal);
    }

    const key = makeId('ses');
    const sessionId = request.sessionId ?? (draft ? draftSessionId(key) : key);
    const session = { key, botId, environment, sessionId };
    const onDisconnect = onDisconnectOf(request);
    const waiting = AbortSignal.any([signal, slot.signal]);
    using arrival = await turns.arrive(session, waiting);
    const claim = repeatable && newClaim(repeatable);
    const kind = draft ? ('DRAFT' as const) : ('CHAT' as const);
    const origin = { botId, environment, channel, entrance, kind, keyId, causedById };
    const run = { ...origin, input: message, context, history };
    const begin = async (leaseId: string) => {
      const { trace, columns } = traceRun(
        { ...run, client, sessionId },
        deployment,
        request.traceparent,
      );
      const turn = { session, leaseId, limit: deployment.definition.history };
      const outcome = await runs.begin({ ...run, ...columns, onDisconnect }, { claim, turn });
      return { trace, ...outcome };
    };

    let outcome = await begin(makeId('trn'));
    if (outcome.kind === 'keyTaken') {
      arrival[Symbol.dispose]();
      await undo.disposeAsync();
      return (await earlierRuns.find(repeatable, signal)) ?? startChat(request, signal);
    }
    if (outcome.kind === 'turnBusy') {
      if (claim) undo.defer(() => idempotency.release(claim));
      const held = await turns.waitForTurn(arrival, { onBusy, signal: waiting });
      undo.defer(() => turns.release(held));
      outcome = await begin(held.leaseId);
      if (outcome.kind !== 'begun')
        throw new Error('The run lost its turn or its idempotency key.');
    }

    // From here on, the run owns the slot and the turn.
    undo.move();
    if (claim) idempotency.notify(claim);
    const { trace, begun, clock, session: held, recollection } = outcome;
    const isNotice = causedById !== undefined;
    const options = { isNotice, history, outputSchema, withoutTools };
    const conversation = { session: held, recollection, sessionId };
    const task = { deployment, ...conversation, message, context, ...options };
    const labels = { kind: run.kind, channel };
    const job = { begun, clock, labels, trace, task, startedAt, onDisconnect };
    return startedRun(runExecutor.launch(slot, job));
  };
  return startChat;
}
