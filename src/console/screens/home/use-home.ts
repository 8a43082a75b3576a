import { useMemo } from 'react';
import {
  BotHome,
  type BotHomeQuery,
  type Environment,
  HomeFailures,
  type HomeFailuresQuery,
} from '../../../generated/operations/console.ts';
import { useDeploymentChanges } from '../../deploy/use-deployment-changes.ts';
import { endOfMinute } from '../../server/clock.ts';
import { type Query, useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

export type HomeBot = NonNullable<BotHomeQuery['bot']>;
export type HomeDeployment = NonNullable<HomeBot['production']>;
export type Failure = HomeFailuresQuery['runs']['edges'][number]['node'];

/**
 * Reads what a bot runs, its last 24 hours and its latest failures, and again when a deployment changes.
 *
 * @param environment of the runs. Absent: both.
 */
export function useHome(
  botId: string,
  environment: Environment | undefined,
): Query<BotHomeQuery> & { failures: Failure[] | undefined } {
  const mayReadRuns = useScope('RUNS');
  const mayDecide = useScope('APPROVE');
  const mayDeploy = useScope('DEPLOY');
  const { from, to } = useMemo(() => {
    const now = endOfMinute();
    return { from: new Date(now - DAY_MS).toISOString(), to: new Date(now).toISOString() };
  }, []);
  const scopes = { mayReadRuns, mayDecide, mayDeploy };
  const home = useServerQuery(BotHome, { id: botId, from, to, filter: { environment }, ...scopes });
  const filter = { status: ['FAILED' as const], from, environment };
  const { data } = useServerQuery(HomeFailures, { botId, filter }, { pause: !mayReadRuns });
  useDeploymentChanges({ botId }, home.retry);
  return { ...home, failures: data?.runs.edges.map(({ node }) => node) };
}
