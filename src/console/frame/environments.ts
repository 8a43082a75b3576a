import { useEffect } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Environment } from '../../generated/operations/console.ts';
import {
  DEFAULT_ENVIRONMENT,
  ENVIRONMENTS,
  type EnvironmentName,
} from '../../vocabulary/environments.ts';
import { toLowerCase, valuesOf } from '../../vocabulary/names.ts';
import { screenAt } from '../screen-addresses.ts';
import { createStore, useStore } from '../server/store.ts';
import { readName } from './parameter.ts';

/** The name of an environment at the start of a sentence, or as a label. */
export function environmentLabel(environment: Environment): string {
  return environment.charAt(0) + environment.slice(1).toLowerCase();
}

/** The choices of an environment. */
export const ENVIRONMENT_OPTIONS = valuesOf(ENVIRONMENTS).map((name) => ({
  name,
  label: environmentLabel(name),
}));

/** The parameter of an address that selects an environment. An absent environment has none. */
export function environmentParameter(environment: Environment | undefined): {
  environment?: EnvironmentName;
} {
  return environment ? { environment: toLowerCase(environment) } : {};
}

/** The query that selects an environment in an address. Empty if it is absent. */
export function environmentQuery(environment: Environment | undefined): string {
  const search = new URLSearchParams(environmentParameter(environment)).toString();
  return search && `?${search}`;
}

/** The parameters of an address with another environment, or without one. */
export function withEnvironment(
  search: URLSearchParams,
  environment: Environment | undefined,
): URLSearchParams {
  const next = new URLSearchParams(search);
  next.delete('environment');
  for (const [name, value] of Object.entries(environmentParameter(environment)))
    next.set(name, value);
  return next;
}

/** Reads the environment of an address. Without a valid one, `environment` is absent. */
export function environmentIn(search: URLSearchParams): {
  environment?: Environment;
  fault?: string;
} {
  const text = search.get('environment');
  if (!text) return {};
  const reading = readName(text, ENVIRONMENTS);
  return 'fault' in reading ? reading : { environment: reading.name };
}

/** The environment that the switch selects on the open screen. */
export function useEnvironment(): {
  /** Absent if the address names none. */
  chosen: Environment | undefined;
  /** The chosen one, or the default of a screen that shows one environment. */
  environment: Environment;
} {
  const [search] = useSearchParams();
  const { environment: chosen } = environmentIn(search);
  return { chosen, environment: chosen ?? DEFAULT_ENVIRONMENT };
}

/** What the switch had selected on the last screen that has one. */
const lastChosen = createStore<Environment | undefined>(undefined);

/** The environment for links to other screens of a bot. It stays while a screen without the switch is open. */
export function useLinkedEnvironment(): Environment | undefined {
  const [location] = useLocation();
  const { chosen } = useEnvironment();
  const last = useStore(lastChosen);
  const hasSwitch = screenAt(location)?.environments !== undefined;
  useEffect(() => {
    if (hasSwitch) lastChosen.set(chosen);
  }, [hasSwitch, chosen]);
  return hasSwitch ? chosen : (chosen ?? last);
}
