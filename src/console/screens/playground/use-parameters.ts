import { useAddress } from '../../frame/use-address.ts';
import { randomId } from '../../random-id.ts';
import { nameOf, type SideChoice, sidesIn } from './sides.ts';

export const TABS = ['prompt', 'request', 'response', 'trace', 'limits', 'code'] as const;
export type TabName = (typeof TABS)[number];

/** The parameters of the playground's address, so that its state survives a reload and can be shared. */
export type Parameters = {
  sessionId: string | undefined;
  /** Whether each message goes to two sides. */
  isCompared: boolean;
  left: SideChoice;
  right: SideChoice;
  /** The sessions of sides that run a draft, which the server names. */
  leftSession: string | undefined;
  rightSession: string | undefined;
  /** Whether a comparison offers tools to the model. */
  hasTools: boolean;
  /** Whether a comparison marks the differences of the replies. Otherwise it shows them as people read them. */
  isMarked: boolean;
  /** The `context` of the messages, as JSON. */
  context: string | undefined;
  isStreamed: boolean;
  onBusy: 'ENQUEUE' | 'REJECT';
  /** The open tab of the inspector. Absent: the first one where the inspector has room, else none. */
  tab: TabName | undefined;
  /** The run of the inspected turn. Absent: the last turn of this visit. */
  runId: string | undefined;
  /** The problems of parameters, which the address keeps until another value replaces them. */
  faults: Faults;
};

type Faults = Partial<Record<'left' | 'right', { text: string; fault: string }>>;

/** Reads the parameters of the address, and changes them. */
export function useParameters() {
  return useAddress(read, written);
}

/** The problems that remain after parameters got other values. */
export function withoutFaults(faults: Faults, ...names: (keyof Faults)[]): Faults {
  const left = { ...faults };
  for (const name of names) delete left[name];
  return left;
}

/** A session id for a new conversation. */
export function newSessionId(): string {
  return `console-${randomId().slice(0, 8)}`;
}

function read(search: URLSearchParams): Parameters {
  const tab = search.get('tab');
  const sides = sidesIn(search);
  const faults: Faults = {};
  for (const [name, problem] of Object.entries(sides.faults))
    if (problem) faults[name as keyof Faults] = { text: search.get(name) ?? '', fault: problem };
  return {
    sessionId: search.get('session_id') || undefined,
    isCompared: search.get('compare') === 'true',
    left: sides.left,
    right: sides.right,
    leftSession: search.get('left_session') || undefined,
    rightSession: search.get('right_session') || undefined,
    hasTools: search.get('tools') !== 'none',
    isMarked: search.get('show') !== 'replies',
    context: search.get('context') || undefined,
    isStreamed: search.get('stream') !== 'false',
    onBusy: search.get('on_busy') === 'reject' ? 'REJECT' : 'ENQUEUE',
    tab: TABS.find((name) => name === tab),
    runId: search.get('run') || undefined,
    faults,
  };
}

/** The parameters that differ from their defaults. */
function written(parameters: Parameters) {
  const { sessionId, isCompared, isStreamed, onBusy, tab, runId } = parameters;
  const { left, right, leftSession, rightSession, hasTools, isMarked, context } = parameters;
  const search = new URLSearchParams({
    ...(sessionId && { session_id: sessionId }),
    ...(isCompared && { compare: 'true' }),
    // The problem of the right side may be that it equals the left one.
    ...((nameOf(left) !== 'production' || parameters.faults.right) && { left: nameOf(left) }),
    ...(nameOf(right) !== 'staging' && { right: nameOf(right) }),
    ...(leftSession && { left_session: leftSession }),
    ...(rightSession && { right_session: rightSession }),
    ...(!hasTools && { tools: 'none' }),
    ...(!isMarked && { show: 'replies' }),
    ...(context && { context }),
    ...(!isStreamed && { stream: 'false' }),
    ...(onBusy === 'REJECT' && { on_busy: 'reject' }),
    ...(tab && { tab }),
    ...(runId && { run: runId }),
  });
  for (const [name, { text }] of Object.entries(parameters.faults)) search.set(name, text);
  return search;
}
