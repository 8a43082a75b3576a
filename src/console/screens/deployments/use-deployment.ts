import { Deployment, type DeploymentQuery } from '../../../generated/operations/console.ts';
import { useDeploymentChanges } from '../../deploy/use-deployment-changes.ts';
import { useServerQuery } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';

/** A deployment with all that its bot's screens show of it. Sources are absent without the scope DEPLOY. */
export type ShownDeployment = Extract<
  NonNullable<DeploymentQuery['node']>,
  { __typename: 'Deployment' }
>;

/** Reads a deployment of a bot, and again at each change. */
export function useDeployment(
  botId: string,
  id: string,
): {
  /** Absent while it is read. */
  deployment: ShownDeployment | undefined;
  /** Whether the bot has no such deployment. */
  isMissing: boolean;
  problem: Problem | undefined;
  retry(): void;
} {
  const withSource = useScope('DEPLOY');
  const { data, problem, isLoading, retry } = useServerQuery(Deployment, { id, withSource });
  useDeploymentChanges({ botId }, retry);
  const found = data?.node?.__typename === 'Deployment' ? data.node : undefined;
  const deployment = found?.id === id && found.bot.id === botId ? found : undefined;
  const isMissing = data !== undefined && deployment === undefined && !isLoading;
  return { deployment, isMissing, problem, retry };
}
