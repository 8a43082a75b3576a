import type { Environment } from '../../generated/operations/console.ts';
import { readName } from './parameter.ts';

export type { Environment };

/** The names of the environments in sentences and in addresses. */
export const ENVIRONMENTS: Record<Environment, string> = {
  PRODUCTION: 'production',
  STAGING: 'staging',
};

/** The environments to choose from. */
export const ENVIRONMENT_OPTIONS: { name: Environment; label: string }[] = [
  { name: 'PRODUCTION', label: 'Production' },
  { name: 'STAGING', label: 'Staging' },
];

/** The parameter of an address that selects an environment. Without it, production is selected. */
export function environmentParameter(environment: Environment | undefined) {
  return environment === 'STAGING' && { environment: ENVIRONMENTS[environment] };
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
