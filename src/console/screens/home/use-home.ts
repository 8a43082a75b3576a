import { useMemo } from 'react';
import {
  BotHome,
  type BotHomeQuery,
  type Environment,
  type HomeFailureFragment,
  HomeFailures,
  type HomeFailuresQuery,
} from '../../../generated/operations/console.ts';
import { useDeploymentChanges } from '../../deploy/use-deployment-changes.ts';
import { endOfMinute } from '../../server/clock.ts';
import { type Query, useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';

const SHOWN_FAILURES = 5;

const DAY_MS = 24 * 60 * 60 * 1_000;

export type HomeBot = NonNullable<BotHomeQuery['bot']>;
export type HomeDeployment = NonNullable<HomeBot['production']>;
export type Failure = HomeFailureFragment;

/**
 * Reads what a bot runs, its last 24 hours and its latest failures, and again when a deployment changes.
 *
 * @param environment of the runs, the waiting calls and the last evaluation. Absent: both.
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
  const home = useServerQuery(BotHome, {
    id: botId,
    from,
    to,
    environment,
    filter: { environment },
    ...scopes,
  });
  const filters = {
    failed: { status: ['FAILED' as const], from, environment },
    completed: { status: ['COMPLETED' as const], from, environment },
  };
  const { data } = useServerQuery(HomeFailures, { botId, ...filters }, { pause: !mayReadRuns });
  useDeploymentChanges({ botId }, home.retry);
  return { ...home, failures: data && latestOf(data) };
}

/** The latest runs that failed, or that completed although a tool call failed. No filter selects the latter. */
function latestOf({ failed, completed }: HomeFailuresQuery): Failure[] {
  const runs = [...failed.edges, ...completed.edges].map(({ node }) => node);
  return runs
    .filter(({ error, failedToolCalls }) => error !== null || failedToolCalls > 0)
    .toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
    .slice(0, SHOWN_FAILURES);
}
