import { EVALUATIONS, type EvaluationFilter, findEvaluations } from '../evaluations/list.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import { EvaluationObject } from './evaluation.ts';
import { EnvironmentEnum } from './shared.ts';

const loadEvaluations = connectionLoader({
  type: 'Evaluation',
  order: EVALUATIONS,
  select: { id: true },
  find: ({ prisma }, botIds, page, filter: PageArguments & EvaluationFilter) =>
    findEvaluations(prisma, botIds, filter, page),
  read: ({ prisma }, query) => prisma.evaluation.findMany(query),
});

builder.prismaObjectField('Bot', 'evaluations', (t) =>
  t.connection(
    {
      type: EvaluationObject,
      description: 'Evaluations of the bot, newest first. Requires the scope DEPLOY.',
      authScopes: { scope: 'DEPLOY' },
      args: {
        environment: t.arg({
          type: EnvironmentEnum,
          description:
            'Returns only evaluations with the variables of this environment. Defaults to both environments.',
        }),
      },
      resolve: ({ id }, args, context, info) => loadEvaluations(id, args, context, info),
    },
    { name: 'EvaluationConnection' },
    { name: 'EvaluationEdge' },
  ),
);
