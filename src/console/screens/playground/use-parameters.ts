import { DEFAULT_ENVIRONMENT, type Environment } from '../../../vocabulary/environments.ts';
import { environmentIn, environmentParameter } from '../../frame/environments.ts';
import { useAddress } from '../../frame/use-address.ts';
import { randomId } from '../../random-id.ts';

export const TABS = ['request', 'response', 'trace', 'limits', 'code'] as const;
export type TabName = (typeof TABS)[number];

/** The parameters of the playground's address, so that its state survives a reload and can be shared. */
export type Parameters = {
  sessionId: string | undefined;
  environment: Environment;
  /** Whether each message goes to both environments. */
  isCompared: boolean;
  isStreamed: boolean;
  onBusy: 'ENQUEUE' | 'REJECT';
  /** The open tab of the inspector. Absent: the first one where the inspector has room, else none. */
  tab: TabName | undefined;
  /** The run of the inspected turn. Absent: the last turn of this visit. */
  runId: string | undefined;
};

/** Reads the parameters of the address, and changes them. */
export function useParameters() {
  return useAddress(read, written);
}

/** A session id for a new conversation. */
export function newSessionId(): string {
  return `console-${randomId().slice(0, 8)}`;
}

function read(search: URLSearchParams): Parameters {
  const tab = search.get('tab');
  return {
    sessionId: search.get('session_id') || undefined,
    environment: environmentIn(search).environment ?? DEFAULT_ENVIRONMENT,
    isCompared: search.get('compare') === 'true',
    isStreamed: search.get('stream') !== 'false',
    onBusy: search.get('on_busy') === 'reject' ? 'REJECT' : 'ENQUEUE',
    tab: TABS.find((name) => name === tab),
    runId: search.get('run') || undefined,
  };
}

/** The parameters that differ from their defaults. */
function written(parameters: Parameters) {
  const { sessionId, environment, isCompared, isStreamed, onBusy, tab, runId } = parameters;
  return new URLSearchParams({
    ...(sessionId && { session_id: sessionId }),
    ...environmentParameter(environment),
    ...(isCompared && { compare: 'true' }),
    ...(!isStreamed && { stream: 'false' }),
    ...(onBusy === 'REJECT' && { on_busy: 'reject' }),
    ...(tab && { tab }),
    ...(runId && { run: runId }),
  });
}
