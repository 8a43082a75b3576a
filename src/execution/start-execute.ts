import type { ActiveDeployments } from '../deployments/active.ts';
import { fingerprintOf, type Repeatable } from '../idempotency/key.ts';
import type { JsonObject } from '../json.ts';
import type { Queue } from '../runs/queue.ts';
import type { Replay } from '../runs/replay.ts';
import type { Worker } from './run-executor.ts';
import {
  type Once,
  onDisconnectOf,
  type RunRequest,
  type Start,
  type StartedRun,
} from './start.ts';

/** A validated prompt to a bot, outside any conversation. */
export type ExecuteRequest = RunRequest & {
  prompt: string;
  /** The caller's annotations, stored with the run. */
  metadata: JsonObject | undefined;
  /** Whether to enqueue the run and answer at once. `onDisconnect` has no effect then. */
  background: boolean;
};

/** Runs without a session: no history, no memory. Source: the API document, "Execute". */
export type Execute = {
  /**
   * @throws GatewayError `bot_not_deployed`, `idempotency_conflict` or `rate_limit_exceeded`; then no run was created.
   */
  start(request: ExecuteRequest, signal: AbortSignal): Promise<StartedRun>;
};

export function createExecute({
  activeDeployments,
  worker,
  start,
  once,
  queue,
  replay,
}: {
  activeDeployments: ActiveDeployments;
  worker: Worker;
  start: Start;
  once: Once;
  queue: Pick<Queue, 'add'>;
  replay: Replay;
}): Execute {
  /** Only checks that the bot is deployed: the run uses the deployment that is active when a worker takes it. */
  const enqueue = (request: ExecuteRequest, signal: AbortSignal) =>
    once(repeatableOf(request), signal, async (also) => {
      const { accountId, plan, botId, botVersion, environment, channel, prompt } = request;
      const { context, metadata } = request;
      await activeDeployments.find(botId, environment, botVersion);
      const traceparent = String(request.traceparent ?? '') || undefined;
      const kind = 'EXECUTE';
      const run = { botId, environment, channel, kind, input: prompt, context, metadata } as const;
      const id = await queue.add({ ...run, accountId, plan, traceparent }, also);
      return { id, read: (...reader) => replay.read(id, 0, ...reader) };
    });

  return {
    start(request, signal) {
      if (request.background) return enqueue(request, signal);
      return start(request, repeatableOf(request), signal, async (place, begin) => {
        const startedAt = performance.now();
        const { botId, botVersion, environment, channel, prompt, context, metadata, traceparent } =
          request;
        const deployment = await activeDeployments.find(botId, environment, botVersion);
        const onDisconnect = onDisconnectOf(request);
        const kind = 'EXECUTE';
        return worker.start(place, {
          run: {
            botId,
            environment,
            channel,
            kind,
            input: prompt,
            context,
            metadata,
            onDisconnect,
          },
          deployment,
          task: { message: prompt, context },
          traceparent,
          startedAt,
          effects: { begin },
        });
      });
    },
  };
}

function repeatableOf(request: ExecuteRequest): Repeatable | undefined {
  const { accountId, idempotencyKey: key, idempotencyNamespace: namespace } = request;
  const { botId, environment, prompt, context, metadata } = request;
  if (key === undefined) return undefined;
  const input = [botId, environment, prompt, context ?? null, metadata ?? null];
  const operation = request.background ? 'execute in the background' : 'execute';
  return { accountId, namespace, key, fingerprint: fingerprintOf(operation, input) };
}
