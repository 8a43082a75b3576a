import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma';
import { DEPLOYMENTS, type DeploymentFilter, findDeployments } from '../deployments/list.ts';
import type { Environment } from '../generated/prisma/client.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import { DEPLOYMENT_TEXTS } from './deployment.ts';
import { DeploymentStatusEnum, EnvironmentEnum } from './shared.ts';

const loadDeployments = connectionLoader({
  type: 'Deployment',
  order: DEPLOYMENTS,
  select: { id: true },
  texts: DEPLOYMENT_TEXTS,
  find: ({ prisma }, botIds, page, filter: PageArguments & DeploymentFilter) =>
    findDeployments(prisma, botIds, filter, page),
  read: ({ prisma }, query) => prisma.deployment.findMany(query),
});

type Question = { environment: Environment; query: { select: { id: true } } };

/** Loads the active deployment of a bot in an environment. */
const loadActiveDeployment = batchLoader(
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
    description: 'Active deployment of an environment. Null if nothing is deployed.',
    args: {
      environment: t.arg({
        type: EnvironmentEnum,
        defaultValue: DEFAULT_ENVIRONMENT,
        description: 'Environment of the bot. Defaults to PRODUCTION.',
      }),
    },
    resolve: ({ id }, { environment }, context, info) => {
      const query = queryFromInfo({ context, info, select: { id: true } });
      const question = { environment: environment ?? DEFAULT_ENVIRONMENT, query };
      return loadActiveDeployment(id, question, context, info);
    },
  }),
  deployments: t.connection(
    {
      type: getRefFromModel('Deployment', builder),
      description: 'Deployments of the bot, newest first, including failed attempts.',
      args: {
        environment: t.arg({
          type: EnvironmentEnum,
          description:
            'Returns only deployments to this environment. Defaults to both environments.',
        }),
        status: t.arg({
          type: DeploymentStatusEnum,
          description: 'Returns only deployments with this status. Defaults to every status.',
        }),
      },
      resolve: ({ id }, args, context, info) => loadDeployments(id, args, context, info),
    },
    { name: 'DeploymentConnection' },
    { name: 'DeploymentEdge' },
  ),
}));
