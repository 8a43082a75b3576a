import type { DeploymentStatus, Environment } from '../../../generated/operations/console.ts';
import { environmentIn } from '../../frame/environments.ts';
import { readName } from '../../frame/parameter.ts';

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

/** The filters of an address. */
export type Filters = {
  filter: DeploymentFilter;
  /** The problem of each invalid parameter, which then filters nothing. */
  faults: { status?: string };
  /** The status in the URL. */
  status: string;
};

/** Reads the filters of an address, which has the parameters of the REST API. */
export function readFilters(search: URLSearchParams): Filters {
  const { environment = null } = environmentIn(search);
  const status = search.get('status') ?? '';
  const reading = status ? readName(status, STATUS_NAMES) : { name: null };
  return {
    filter: { environment, status: 'name' in reading ? reading.name : null },
    faults: 'fault' in reading ? { status: reading.fault } : {},
    status,
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
