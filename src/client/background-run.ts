import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { ExecuteInput, ExecuteReply } from './chats.ts';
import type { Connection } from './connection.ts';
import type { RequestOptions } from './options.ts';
import { assertWhole } from './reply-stream.ts';
import { runPath } from './rest-source.ts';
import { followRun } from './run-events.ts';
import type { CancelledRun, RunEvent } from './runs.ts';
import { fromWire } from './wire.ts';

/** A run in the background. */
export type BackgroundRun = {
  /** ID of the run. */
  id: string;
  /** Reads all events of the run, and follows it until it ends. */
  events(options?: RequestOptions): AsyncIterable<RunEvent>;
  /** Waits for the end of the run. @throws RunError if the run failed or was cancelled. */
  result(options?: RequestOptions): Promise<ExecuteReply>;
  /** Cancels the run. */
  cancel(options?: RequestOptions): ApiPromise<CancelledRun>;
};

export function createBackgroundRun(
  connection: Connection,
  { botId, runId, input }: { botId: string; runId: string; input: ExecuteInput },
): BackgroundRun {
  const cancel = (options?: RequestOptions) =>
    apiPromise(
      connection.call(
        { path: `${runPath(botId, runId)}/cancel` },
        connection.settingsOf(options),
        (body) => fromWire(body) as CancelledRun,
      ),
    );
  const events = (options?: RequestOptions) =>
    followRun(connection, { botId, runId }, connection.settingsOf(options));
  return {
    id: runId,
    events,
    cancel,
    async result(options) {
      let response = '';
      for await (const event of events(options)) {
        // A run whose process died starts again.
        if (event.type === 'run_started') response = '';
        if (event.type === 'text') response += event.delta;
        if (event.type === 'done') assertWhole(event);
      }
      // A cancellation answers a run that has ended as it is, also for keys that may not read runs.
      const { latencyMs, tokensUsed, toolsCalled, ...run } = await cancel(options);
      const output = run.output ?? (input.outputSchema && JSON.parse(response));
      return {
        response,
        ...(output && { output }),
        runId,
        latencyMs: latencyMs ?? 0,
        tokensUsed,
        toolsCalled,
      };
    },
  };
}
