import type { Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import type { SessionName } from '../../chat/use-stored-session.ts';
import { environmentParameter } from '../../frame/environments.ts';

/** The part of a bot's sessions that the address selects. */
export type Place = {
  /** The id of the open session. */
  user: string | undefined;
  /** The shown part of the open session if the window is too narrow for its conversation beside its memory. */
  tab: 'conversation' | 'memory';
};

/** Reads the selection from the address. The parameters have the names of the REST API. */
export function placeIn(search: URLSearchParams): Place {
  return {
    user: search.get('user') || undefined,
    tab: search.get('tab') === 'memory' ? 'memory' : 'conversation',
  };
}

/** The parameters of an environment, and the parameters of a selection that differ from their defaults. */
export function searchOf(
  { user, tab }: Partial<Place>,
  environment: Environment | undefined,
): URLSearchParams {
  return new URLSearchParams({
    ...(user && { user }),
    ...environmentParameter(environment),
    ...(tab === 'memory' && { tab }),
  });
}

/** The address of the sessions of a bot, or of one of them. */
export function sessionsAddress(
  botId: string,
  { environment, ...place }: Partial<Place> & { environment?: Environment | undefined },
): string {
  const search = searchOf(place, environment).toString();
  return `/bots/${botId}/sessions${search && `?${search}`}`;
}

/** The address of the runs of a session. */
export function runsAddress({ botId, environment, sessionId }: SessionName): string {
  const search = new URLSearchParams({
    user: sessionId,
    environment: toLowerCase(environment),
  });
  return `/bots/${botId}/runs?${search}`;
}
