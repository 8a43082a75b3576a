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

/** A prompt to a bot outside of any conversation, checked. */
export type ExecuteRequest = RunRequest & {
  prompt: string;
  /** The caller's own notes on the run, stored with it. */
  metadata: JsonObject | undefined;
  /** Whether it waits in the queue and nobody for it; `onDisconnect` says nothing then. */
  background: boolean;
};

/** Runs without a session: no history, no memory. Source: the API document, "Execute". */
export type Execute = {
  /** @throws GatewayError `bot_not_deployed`, `idempotency_conflict` or `rate_limit_exceeded`; then no run has begun. */
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
  /** The run is done by what is deployed when its turn comes; that something is, is asked already. */
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
