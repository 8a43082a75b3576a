import { DEFAULT_ENVIRONMENT, type Environment } from '../../../vocabulary/environments.ts';
import { environmentIn, environmentParameter } from '../../frame/environments.ts';
import { useAddress } from '../../frame/use-address.ts';

export const PANELS = ['chat', 'outline', 'problems', 'tests'] as const;
export type PanelName = (typeof PANELS)[number];

/** The parameters of the Studio's address. */
export type Parameters = {
  environment: Environment;
  /** The problem of the environment in the address. */
  fault: string | undefined;
  /** The open panel. Absent: the editor where only one of them has room, else the first panel. */
  panel: PanelName | undefined;
};

/** Reads the parameters of the address, and changes them. */
export function useParameters() {
  return useAddress(read, written);
}

function read(search: URLSearchParams): Parameters {
  const panel = search.get('panel');
  const { environment = DEFAULT_ENVIRONMENT, fault } = environmentIn(search);
  return {
    environment,
    fault,
    panel: PANELS.find((name) => name === panel),
  };
}

function written({ environment, panel }: Parameters) {
  return new URLSearchParams({
    ...environmentParameter(environment),
    ...(panel && { panel }),
  });
}
