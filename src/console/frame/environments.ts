import type { Environment } from '../../generated/operations/console.ts';
import {
  DEFAULT_ENVIRONMENT,
  ENVIRONMENTS,
  type EnvironmentName,
} from '../../vocabulary/environments.ts';
import { toLowerCase, valuesOf } from '../../vocabulary/names.ts';
import { readName } from './parameter.ts';

/** The choices of an environment. */
export const ENVIRONMENT_OPTIONS = valuesOf(ENVIRONMENTS).map((name) => ({
  name,
  label: name.charAt(0) + name.slice(1).toLowerCase(),
}));

/** The parameter of an address that selects an environment. The default environment has none. */
export function environmentParameter(environment: Environment | undefined): {
  environment?: EnvironmentName;
} {
  if (!environment || environment === DEFAULT_ENVIRONMENT) return {};
  return { environment: toLowerCase(environment) };
}

/** The query that selects an environment in an address. Empty for the default environment. */
export function environmentQuery(environment: Environment): string {
  const search = new URLSearchParams(environmentParameter(environment)).toString();
  return search && `?${search}`;
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
