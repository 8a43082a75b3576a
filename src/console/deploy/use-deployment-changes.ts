import { DeploymentChanges } from '../../generated/operations/console.ts';
import { createUseChanges } from '../server/use-changes.ts';

/** Follows the deployments of a bot. */
export const useDeploymentChanges = createUseChanges(DeploymentChanges);
