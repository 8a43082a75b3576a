import type { Connection, Settings } from './connection.ts';
import { startDeadline } from './deadline.ts';
import { decode, eventsRequest } from './rest-source.ts';
import { waitToRetry } from './retry.ts';
import type { StreamEvent } from './run-source.ts';
import type { RunEvent } from './runs.ts';
import { readStream, type StreamSource } from './stream-reader.ts';

/** Reads the events of a run after a number, across lost connections. */
export async function* followRun(
  connection: Connection,
  { botId, runId, after }: { botId: string; runId: string; after?: number | undefined },
  settings: Settings,
): AsyncGenerator<RunEvent> {
  const { timeout, maxRetries, signals } = settings;
  const deadline = startDeadline(timeout, signals);
  const { signal } = deadline;
  const source: StreamSource<StreamEvent> = {
    signal,
    async open(position) {
      const opened = await connection.open(eventsRequest(botId, runId, position), settings, signal);
      return opened && decode(opened);
    },
    recover: (error, failures) => waitToRetry(error, failures, maxRetries, deadline),
  };
  try {
    for await (const event of readStream(source, after)) {
      deadline.pause();
      if (event.seq !== undefined) yield { ...event, seq: event.seq };
      if (event.type === 'done') return;
      deadline.restart();
    }
  } finally {
    deadline.stop();
  }
}
