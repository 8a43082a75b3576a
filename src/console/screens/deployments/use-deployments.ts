import { useMemo } from 'react';
import {
  Deployments,
  type DeploymentsQuery,
  type ListedDeploymentFragment,
} from '../../../generated/operations/console.ts';
import { useDeploymentChanges } from '../../deploy/use-deployment-changes.ts';
import { type Pages, usePages } from '../../server/use-pages.ts';
import type { DeploymentFilter } from './filter.ts';

/** Deployments of one page. */
const PAGE = 30;

export type ListedDeployment = ListedDeploymentFragment;

/** The deployments of a bot that match a filter, newest first, page by page. It follows their changes. */
export function useDeployments(
  botId: string,
  { environment, status }: DeploymentFilter,
): Pages<ListedDeployment, Head> {
  const variables = useMemo(() => ({ botId, environment, status }), [botId, environment, status]);
  const pages = usePages(Deployments, { size: PAGE, variables }, toPage);
  useDeploymentChanges({ botId }, pages.readAgain);
  return pages;
}

type Head = {
  /** Ids of the deployments that run now. */
  running: ReadonlySet<string>;
};

function toPage({ bot }: DeploymentsQuery) {
  if (!bot) return undefined;
  const { production, staging, deployments } = bot;
  const running = new Set([production, staging].flatMap((one) => one?.id ?? []));
  const rows = deployments.edges.map(({ node }) => node);
  return { rows, head: { running }, pageInfo: deployments.pageInfo };
}
