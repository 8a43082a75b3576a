import { Running } from '../../../generated/operations/console.ts';
import type { Environment } from '../../../vocabulary/environments.ts';
import { type RunningDeployment, useRunning } from '../../deploy/use-running.ts';
import { useServerQuery } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';

/** The definition that runs in an environment, read again after each deploy. */
export type Definition = {
  /** Absent if nothing is deployed to the environment. */
  running: RunningDeployment | undefined;
  /** What runs in production, if nothing runs in staging. */
  production: RunningDeployment | undefined;
};

export function useDefinition(
  botId: string,
  environment: Environment,
): { definition: Definition | undefined; problem: Problem | undefined; retry(): void } {
  const { bot, running, problem, retry } = useRunning(botId, environment);
  const withSource = useScope('DEPLOY');
  const isMissing = environment === 'STAGING' && bot !== undefined && !running;
  const other = useServerQuery(
    Running,
    { botId, environment: 'PRODUCTION', withSource },
    { pause: !isMissing },
  );
  const isReady = bot !== undefined && (!isMissing || other.data !== undefined);
  const production = isMissing ? (other.data?.bot?.running ?? undefined) : undefined;
  return {
    definition: isReady ? { running, production } : undefined,
    problem: problem ?? (isMissing ? other.problem : undefined),
    retry: isMissing ? other.retry : retry,
  };
}
