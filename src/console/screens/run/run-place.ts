import type { RunPlace } from './run-body.tsx';

const TABS = ['trace', 'prompt', 'events'] as const;

/** Reads the selected part of a run from the address. */
export function placeIn(search: URLSearchParams): RunPlace {
  return {
    tab: TABS.find((name) => name === search.get('tab')) ?? 'trace',
    span: search.get('span') || undefined,
  };
}

/** The address with another selection, and all its other parameters. */
export function withPlace(search: URLSearchParams, { tab, span }: RunPlace): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete('tab');
  next.delete('span');
  if (tab !== 'trace') next.set('tab', tab);
  if (span) next.set('span', span);
  return next;
}
