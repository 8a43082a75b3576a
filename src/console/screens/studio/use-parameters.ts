import { useAddress } from '../../frame/use-address.ts';

export const PANELS = ['chat', 'outline', 'problems', 'tests'] as const;
export type PanelName = (typeof PANELS)[number];

/** The parameters of the Studio's address. */
export type Parameters = {
  /** The open panel. Absent: the editor where only one of them has room, else the first panel. */
  panel: PanelName | undefined;
};

/** Reads the parameters of the address, and changes them. */
export function useParameters() {
  return useAddress(read, written);
}

function read(search: URLSearchParams): Parameters {
  const panel = search.get('panel');
  return { panel: PANELS.find((name) => name === panel) };
}

function written({ panel }: Parameters) {
  return new URLSearchParams({ ...(panel && { panel }) });
}
