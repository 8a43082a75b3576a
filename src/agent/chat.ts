import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { Channel, Environment } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { Log } from '../log.ts';
import type { EventLog } from '../runs/events.ts';
import type { Admission, LiveRun, LiveRuns } from '../runs/live.ts';
import type { RunOutcome, Runs } from '../runs/runs.ts';
import type { History, HistoryMessage, NewSession, SessionState } from '../sessions/history.ts';
import { type Turns, turnName } from '../sessions/turns.ts';
import type { Agent } from './agent.ts';
import type { LoopResult } from './loop.ts';

/** One message to a bot, checked. */
export type ChatRequest = {
  botId: string;
  environment: Environment;
  channel: Channel;
  message: string;
  /** A new session is made where it is left out. */
  sessionId: string | undefined;
  context: JsonObject | undefined;
};

/** The reply as a whole. */
export type ChatReply = {
  response: string;
  sessionId: string;
  runId: string;
  /** Milliseconds from taking the message, waiting for the turn included, to the end of the reply. */
  latencyMs: number;
  tokensUsed: number;
  /** In call order, without repeats. */
  toolsCalled: string[];
};

/** A turn under way. */
export type LiveChat = LiveRun & { sessionId: string };

/** Conversations with bots. Source: the API document, "Chat". */
export type Chat = {
  /**
   * Takes the session's turn and begins a run, which goes on by itself until its last reader leaves.
   *
   * @param signal says that the caller has gone while it waits for the turn.
   * @throws GatewayError `bot_not_deployed` or `session_busy`; then no run has begun.
   */
  start(request: ChatRequest, signal: AbortSignal): Promise<LiveChat>;
  /**
   * Reads a turn to its end.
   *
   * @throws GatewayError with the run's id where the run failed.
   */
  finish(chat: LiveChat, signal: AbortSignal): Promise<ChatReply>;
};

type Parts = {
  activeDeployments: ActiveDeployments;
  agent: Agent;
  history: History;
  turns: Turns;
  runs: Runs;
  liveRuns: LiveRuns;
  log: Log;
};

/** All that the work of one turn needs to know. */
type Turn = {
  request: ChatRequest;
  sessionId: string;
  session: SessionState;
  deployment: RunningDeployment;
  runId: string;
  startedAt: number;
};

export function createChat(parts: Parts): Chat {
  const { activeDeployments, agent, history, turns, runs, liveRuns, log } = parts;

  const begin = async (request: ChatRequest, ref: NewSession, startedAt: number) => {
    const { botId, environment, channel, message, context } = request;
    const { sessionId } = ref;
    const deployment = await activeDeployments.find(botId, environment);
    const { deploymentId } = deployment;
    const session = await history.open(ref);
    const runId = await runs.begin({
      botId,
      deploymentId,
      environment,
      kind: 'CHAT',
      channel,
      sessionId,
      input: message,
      context,
      model: agent.modelName(deployment),
    });
    return { request, sessionId, session, deployment, runId, startedAt };
  };

  /** Does the turn and tells the log. Ends the run whatever happens, and its readers only after it is stored. */
  const work = async (turn: Turn, events: EventLog, signal: AbortSignal) => {
    const { request, runId, sessionId, session, deployment, startedAt } = turn;
    const { message, context } = request;
    let result: LoopResult | undefined;
    let failure: GatewayError | undefined;
    events.append({ type: 'RunStarted', runId, sessionId });
    try {
      const task = { deployment, session, sessionId, message, context };
      const loop = await agent.begin(task, signal);
      ({ result } = loop);
      for await (const event of loop.events) events.append(event);
    } catch (error) {
      failure = toGatewayError(error);
      log.warn({ runId, code: failure.code, err: failure.cause }, failure.message);
    }
    const outcome: RunOutcome = {
      status: failure ? 'FAILED' : signal.aborted ? 'CANCELLED' : 'COMPLETED',
      response: result?.response ?? '',
      error: failure,
      latencyMs: Math.round(performance.now() - startedAt),
      toolsCalled: result?.toolsCalled ?? [],
      ...(result?.usage() ?? { promptTokens: 0, completionTokens: 0, tokensEstimated: false }),
    };
    failure = (await store(turn, outcome, result?.messages ?? [])) ?? failure;
    announce(events, runId, outcome, failure);
  };

  /** Stores the end of a run and its turn; where that cannot be, the run alone, as failed. */
  const store = async (
    turn: Turn,
    outcome: RunOutcome,
    messages: HistoryMessage[],
  ): Promise<GatewayError | undefined> => {
    const { runId } = turn;
    try {
      await runs.end(runId, outcome, remember(turn, outcome, messages));
      return undefined;
    } catch (error) {
      const failure = toGatewayError(error);
      log.error({ runId, err: error }, 'The turn could not be stored.');
      await runs.end(runId, { ...outcome, status: 'FAILED', error: failure }).catch((err) => {
        log.error({ runId, err }, 'The end of the run could not be stored.');
      });
      return failure;
    }
  };

  /** A finished turn is kept whole, a cancelled one as far as it was said, a failed one not at all. */
  const remember = (
    { request, session, runId }: Turn,
    { status, response }: RunOutcome,
    messages: HistoryMessage[],
  ) => {
    if (status === 'FAILED') return [];
    const asked: HistoryMessage = { role: 'USER', text: request.message };
    const said: HistoryMessage = { role: 'ASSISTANT', text: response, toolCalls: [] };
    const answered = status === 'COMPLETED' ? messages : response ? [said] : [];
    return history.append(session, runId, [asked, ...answered]);
  };

  /** Waits for the session's turn, begins the run, and leaves it to itself. */
  const startIn = async (place: Admission, request: ChatRequest, signal: AbortSignal) => {
    const startedAt = performance.now();
    const { botId, environment } = request;
    const key = makeId('ses');
    const sessionId = request.sessionId ?? key;
    const release = await turns.take(
      turnName({ botId, environment, sessionId }),
      AbortSignal.any([signal, place.signal]),
    );
    try {
      const turn = await begin(request, { key, botId, environment, sessionId }, startedAt);
      const run = place.start(turn.runId, (events, runSignal) =>
        work(turn, events, runSignal).finally(release),
      );
      return { ...run, sessionId };
    } catch (error) {
      release();
      throw error;
    }
  };

  return {
    async start(request, signal) {
      const place = liveRuns.admit();
      try {
        return await startIn(place, request, signal);
      } catch (error) {
        place.leave();
        throw error;
      }
    },

    async finish({ id: runId, sessionId, read }, signal) {
      let response = '';
      for await (const event of read(signal)) {
        switch (event.type) {
          case 'TextDelta':
            response += event.delta;
            break;
          case 'ChatDone': {
            const { latencyMs, tokensUsed, toolsCalled } = event;
            return { response, sessionId, runId, latencyMs, tokensUsed, toolsCalled };
          }
          case 'ChatFailed':
            throw new GatewayError(event.code, event.message, { runId });
        }
      }
      throw new GatewayError('internal_error', 'The run was stopped.', { runId });
    },
  };
}

function announce(
  events: EventLog,
  runId: string,
  { status, latencyMs, promptTokens, completionTokens, toolsCalled }: RunOutcome,
  failure: GatewayError | undefined,
): void {
  const tokensUsed = promptTokens + completionTokens;
  if (failure) {
    const { code, message } = failure;
    events.append({ type: 'ChatFailed', runId, latencyMs, code, message });
  } else if (status === 'CANCELLED') {
    events.append({ type: 'ChatCancelled', runId, latencyMs, tokensUsed });
  } else {
    events.append({ type: 'ChatDone', runId, latencyMs, tokensUsed, toolsCalled });
  }
}
