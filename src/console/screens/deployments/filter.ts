import type { DeploymentStatus, Environment } from '../../../operations/console/operations.ts';

/** Which deployments are listed. Without a condition, all of them. */
export type DeploymentFilter = {
  environment: Environment | null;
  status: DeploymentStatus | null;
};

export const STATUS_NAMES: Record<DeploymentStatus, string> = {
  DEPLOYED: 'deployed',
  PENDING: 'pending',
  FAILED: 'failed',
};

/** Reads the filter from the address, whose parameters are those of the REST API. Any other value selects nothing. */
export function filterIn(search: URLSearchParams): DeploymentFilter {
  const environment = search.get('environment');
  const status = search.get('status');
  return {
    environment:
      environment === 'production' ? 'PRODUCTION' : environment === 'staging' ? 'STAGING' : null,
    status:
      (['DEPLOYED', 'PENDING', 'FAILED'] as const).find((one) => STATUS_NAMES[one] === status) ??
      null,
  };
}

/** The address with other values of parameters, an empty one removed, and all its other parameters. */
export function withParameters(
  search: URLSearchParams,
  change: Record<string, string>,
): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(change)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}
