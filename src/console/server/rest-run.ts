import type { Step } from './call.ts';
import { noteAway, noteHere, untilHere } from './connection.ts';
import { AWAY, type Problem, problemFrom } from './problem.ts';
import { stepsOfFrames } from './rest-frames.ts';
import { withKey } from './rest-request.ts';
import { ChatProblem, type Reading } from './stream-chat.ts';

/** A run that a key started by REST. Only that key is known to have access to it. */
export type RestRun = { botId: string; runId: string; secret: string };

/**
 * Reads the events of a run from its first one on. After a lost connection, resumes after the last event received once
 * the server responds.
 *
 * @throws ChatProblem
 */
export async function* followByRest(
  run: RestRun,
  { signal, recording }: Reading,
): AsyncGenerator<Step, void> {
  let lastEventId = '0';
  while (!signal.aborted) {
    const request = withKey(run.secret, [['Last-Event-ID', lastEventId]]);
    const response = await recording
      .fetch(`${pathOf(run)}/events`, { ...request, signal })
      .catch(() => undefined);
    if (response) {
      noteHere();
      if (!response.ok) throw new ChatProblem(await problemFrom(response));
      if (!response.body) return;
      try {
        for await (const { id, step } of stepsOfFrames(response.body)) {
          lastEventId = id ?? lastEventId;
          yield step;
          if (step.type === 'ended') return;
        }
      } catch {
        // The connection was lost.
      }
    }
    if (signal.aborted) return;
    noteAway();
    await untilHere(signal);
  }
}

/** Cancels a run. @returns the problem if that failed. */
export async function cancelByRest(run: RestRun): Promise<Problem | undefined> {
  try {
    const response = await fetch(`${pathOf(run)}/cancel`, {
      method: 'POST',
      ...withKey(run.secret),
    });
    return response.ok ? undefined : await problemFrom(response);
  } catch {
    return AWAY;
  }
}

function pathOf({ botId, runId }: RestRun): string {
  return `/v1/bots/${encodeURIComponent(botId)}/runs/${encodeURIComponent(runId)}`;
}
