import { getRefFromModel } from '@pothos/plugin-prisma';
import { DEPLOYMENTS, type DeploymentFilter, findDeployments } from '../deployments/list.ts';
import type { Environment } from '../generated/prisma/client.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { together } from './batch-loader.ts';
import { builder } from './builder.ts';
import { listsOf, selectNode, selectNodes } from './nodes.ts';
import { DeploymentStatusEnum, EnvironmentEnum } from './shared.ts';
import { DEPLOYMENT_TEXTS } from './texts.ts';

const deploymentsOf = listsOf(
  DEPLOYMENTS,
  ({ prisma }, botIds, page, filter: PageArguments & DeploymentFilter) =>
    findDeployments(prisma, botIds, filter, page),
  ({ prisma }, query: { select: { id: true } }) => prisma.deployment.findMany(query),
  DEPLOYMENT_TEXTS,
);

type Question = { environment: Environment; query: { select: { id: true } } };

/** What bots run in an environment. */
const activeDeploymentsOf = together(
  async (botIds, { environment, query }: Question, { prisma }) => {
    const active = await prisma.activeDeployment.findMany({
      where: { botId: { in: botIds }, environment },
      select: { botId: true, deployment: query },
    });
    const byId = new Map(active.map(({ botId, deployment }) => [botId, deployment]));
    return (id) => byId.get(id) ?? null;
  },
);

builder.prismaObjectFields('Bot', (t) => ({
  activeDeployment: t.field({
    type: getRefFromModel('Deployment', builder),
    nullable: true,
    description: 'What runs now.',
    args: { environment: t.arg({ type: EnvironmentEnum, defaultValue: 'PRODUCTION' }) },
    resolve: ({ id }, { environment }, context, info) => {
      const query = selectNode({ id: true }, context, info);
      const question = { environment: environment ?? 'PRODUCTION', query };
      return activeDeploymentsOf(id, question, context, info);
    },
  }),
  deployments: t.connection(
    {
      type: getRefFromModel('Deployment', builder),
      description: 'Every attempt to deploy, the newest first.',
      args: {
        environment: t.arg({ type: EnvironmentEnum }),
        status: t.arg({ type: DeploymentStatusEnum }),
      },
      resolve: ({ id }, args, context, info) =>
        deploymentsOf(
          id,
          args,
          selectNodes('Deployment', { id: true }, context, info),
          context,
          info,
        ),
    },
    { name: 'DeploymentConnection' },
    { name: 'DeploymentEdge' },
  ),
}));
