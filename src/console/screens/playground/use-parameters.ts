import { useAddress } from '../../frame/use-address.ts';

export const TABS = ['request', 'response', 'trace', 'limits', 'code'] as const;
export type TabName = (typeof TABS)[number];

export type EnvironmentName = 'PRODUCTION' | 'STAGING';

/** The parameters of the playground's address, so that its state survives a reload and can be shared. */
export type Parameters = {
  sessionId: string | undefined;
  environment: EnvironmentName;
  /** Whether each message goes to both environments. */
  isCompared: boolean;
  isStreamed: boolean;
  onBusy: 'ENQUEUE' | 'REJECT';
  /** The open tab of the inspector. Absent: the first one where the inspector has room, else none. */
  tab: TabName | undefined;
};

/** Reads the parameters of the address, and changes them without an entry in the history. */
export function useParameters() {
  return useAddress(read, written);
}

/** A session id for a new conversation. */
export function newSessionId(): string {
  return `console-${crypto.randomUUID().slice(0, 8)}`;
}

function read(search: URLSearchParams): Parameters {
  const tab = search.get('tab');
  return {
    sessionId: search.get('session_id') || undefined,
    environment: search.get('environment') === 'staging' ? 'STAGING' : 'PRODUCTION',
    isCompared: search.get('compare') === 'true',
    isStreamed: search.get('stream') !== 'false',
    onBusy: search.get('on_busy') === 'reject' ? 'REJECT' : 'ENQUEUE',
    tab: TABS.find((name) => name === tab),
  };
}

/** The parameters that differ from their defaults. */
function written({ sessionId, environment, isCompared, isStreamed, onBusy, tab }: Parameters) {
  return new URLSearchParams({
    ...(sessionId && { session_id: sessionId }),
    ...(environment === 'STAGING' && { environment: 'staging' }),
    ...(isCompared && { compare: 'true' }),
    ...(!isStreamed && { stream: 'false' }),
    ...(onBusy === 'REJECT' && { on_busy: 'reject' }),
    ...(tab && { tab }),
  });
}
