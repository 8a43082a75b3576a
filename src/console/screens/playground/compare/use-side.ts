import { type BotQuery, DeploymentSource } from '../../../../generated/operations/console.ts';
import type { Environment } from '../../../../vocabulary/environments.ts';
import { toLowerCase } from '../../../../vocabulary/names.ts';
import { versionName } from '../../../deploy/version.ts';
import { useDraftText } from '../../../drafts/use-draft-text.ts';
import { environmentLabel } from '../../../frame/environments.ts';
import { useServerQuery } from '../../../server/operations.ts';
import type { Problem } from '../../../server/problem.ts';
import { lacks, useScope } from '../../../server/viewer.ts';
import type { SideChoice } from '../sides.ts';

/** One side of a comparison: what answers there. */
export type ComparedSide = {
  label: string;
  /** The version or the environment. */
  detail: string | undefined;
  environment: Environment;
  /** The id of the deployment that an environment runs. */
  deploymentId: string | undefined;
  /** The definition that is sent with each message. Absent for an environment, and before it is read. */
  source: string | undefined;
  isReading: boolean;
  /** Why it cannot answer. */
  missing: string | undefined;
  problem: Problem | undefined;
  retry(): void;
};

type ShownBot = NonNullable<BotQuery['bot']>;

/** Reads what answers on a side. */
export function useSide(bot: ShownBot, choice: SideChoice): ComparedSide {
  const mayDeploy = useScope('DEPLOY');
  const isDeployment = choice.kind === 'deployment';
  const id = isDeployment ? choice.id : '';
  const { data, problem, isLoading, retry } = useServerQuery(
    DeploymentSource,
    { id },
    { pause: !isDeployment || !mayDeploy },
  );
  const draft = useDraftText(bot.id, choice.kind === 'draft' ? choice.environment : undefined);
  const none = { deploymentId: undefined, isReading: false, problem: undefined, retry };
  if (choice.kind === 'environment') {
    const place = toLowerCase(choice.environment);
    const deployment = bot[place];
    return {
      ...none,
      label: environmentLabel(choice.environment),
      detail: deployment ? versionName(deployment) : undefined,
      environment: choice.environment,
      deploymentId: deployment?.id,
      source: undefined,
      missing: deployment ? undefined : `Nothing is deployed to ${place}.`,
    };
  }
  const lacking = mayDeploy ? undefined : lacks('DEPLOY');
  if (choice.kind === 'draft') {
    const place = toLowerCase(choice.environment);
    return {
      ...none,
      label: 'Draft',
      detail: `of ${place}`,
      environment: choice.environment,
      source: draft,
      missing:
        lacking ??
        (draft === undefined
          ? `The Studio has no changed text for ${place} in this browser.`
          : undefined),
    };
  }
  const found = data?.node?.__typename === 'Deployment' ? data.node : undefined;
  const deployment = found?.id === id && found.bot.id === bot.id ? found : undefined;
  const isGone = problem?.code === 'DEPLOYMENT_NOT_FOUND' || (data && !isLoading && !deployment);
  return {
    ...none,
    label: deployment ? versionName(deployment) : 'Deployment',
    detail: deployment ? `for ${toLowerCase(deployment.environment)}` : `…${id.slice(-6)}`,
    environment: deployment?.environment ?? 'PRODUCTION',
    source: deployment?.source,
    isReading: mayDeploy && !data && !problem,
    missing: lacking ?? (isGone ? 'This bot has no such deployment.' : undefined),
    problem: isGone ? undefined : problem,
  };
}
