import { runPath } from '../../client/rest-source.ts';
import { AWAY, type Problem, problemFrom } from './problem.ts';
import { withKey } from './rest-request.ts';

/** A run that a key started by REST. Only that key is known to have access to it. */
export type RestRun = { botId: string; runId: string; secret: string };

/** Cancels a run. @returns the problem if that failed. */
export async function cancelByRest({
  botId,
  runId,
  secret,
}: RestRun): Promise<Problem | undefined> {
  try {
    const path = `${runPath(botId, runId)}/cancel`;
    const response = await fetch(path, { method: 'POST', ...withKey(secret) });
    return response.ok ? undefined : await problemFrom(response);
  } catch {
    return AWAY;
  }
}
