import type { Connection, Settings } from './connection.ts';
import { startDeadline } from './deadline.ts';
import { decode, eventsRequest } from './rest-source.ts';
import { resume } from './resume.ts';
import type { RunEvent } from './runs.ts';

/** Reads the events of a run after a number, across lost connections. */
export async function* followRun(
  connection: Connection,
  { botId, runId, after }: { botId: string; runId: string; after?: number | undefined },
  settings: Settings,
): AsyncGenerator<RunEvent> {
  const { timeout, maxRetries, signals } = settings;
  const deadline = startDeadline(timeout, signals);
  const { signal } = deadline;
  const open = async (position: number | undefined) => {
    const opened = await connection.open(eventsRequest(botId, runId, position), settings, signal);
    return opened && decode(opened);
  };
  try {
    for await (const event of resume(open, { after, maxRetries, deadline })) {
      signal.throwIfAborted();
      deadline.pause();
      if (event.seq !== undefined) yield { ...event, seq: event.seq };
      deadline.restart();
    }
  } finally {
    deadline.stop();
  }
}
