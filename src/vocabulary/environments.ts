import { namesOf } from './names.ts';

/** The environments of a bot. Each has its own active deployment. */
export const ENVIRONMENTS = {
  PRODUCTION: { description: 'The environment for end users.' },
  STAGING: { description: 'The environment for tests.' },
} as const;

export type Environment = keyof typeof ENVIRONMENTS;
export type EnvironmentName = Lowercase<Environment>;

/** The environment of a request that names none. */
export const DEFAULT_ENVIRONMENT = 'PRODUCTION' satisfies Environment;

export const ENVIRONMENT_NAMES = namesOf(ENVIRONMENTS);
