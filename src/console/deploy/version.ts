import type { Environment } from '../../generated/operations/console.ts';

/** The name of a deployment in a sentence, such as `v12`. */
export function versionName({ id, version }: { id: string; version: number | null }): string {
  return version === null ? id : `v${version}`;
}

/** The name of an environment in a sentence. */
export const ENVIRONMENT_NAMES: Record<Environment, string> = {
  PRODUCTION: 'production',
  STAGING: 'staging',
};
