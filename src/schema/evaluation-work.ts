import { GatewayError, notFound } from '../errors/errors.ts';
import type { Forecast } from '../evaluations/forecast.ts';
import { builder } from './builder.ts';
import { EvaluationObject, evaluationArguments } from './evaluation.ts';
import { mayEvaluate, requestArguments, requestOf } from './evaluation-request.ts';
import { scopeOfBot, visibleById } from './of-bot.ts';

builder.mutationField('startEvaluation', (t) =>
  t.prismaField({
    type: EvaluationObject,
    description:
      'Starts an evaluation of the tests in a definition, of recorded runs, or of both, in the background. No tool is called, and no session, memory or deployment changes. Each attempt at a case counts as one request of the account. Requires the scope DEPLOY, and for `replay` the scope RUNS. Errors: DEFINITION_INVALID (with `extensions.diagnostics`), DEPLOYMENT_NOT_FOUND, EVALUATION_NOT_FOUND, RUN_NOT_FOUND, RATE_LIMIT_EXCEEDED if 10 evaluations of the account wait.',
    authScopes: (_root, { botId, input }) => mayEvaluate(botId, input),
    args: requestArguments,
    resolve: async (query, _root, { botId, input }, { caller, evaluations, prisma, search }) => {
      const { id } = await evaluations.start(requestOf(botId, input, caller()), search);
      return prisma.evaluation.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
);

const EvaluationForecastObject = builder.objectRef<Forecast>('EvaluationForecast').implement({
  description: 'Estimated cost of an evaluation.',
  fields: (t) => ({
    tests: t.exposeInt('tests', { description: 'Number of tests.' }),
    runs: t.exposeInt('runs', { description: 'Number of recorded runs to repeat.' }),
    requests: t.exposeInt('requests', {
      description: 'Requests of the account: one for each attempt at a test or a run.',
    }),
    modelCalls: t.exposeInt('modelCalls', {
      description:
        'Estimate of the model calls, with the calls of the model that judges. Equal replies need no judgement.',
    }),
    tokens: t.exposeInt('tokens', {
      description: 'Estimate of the tokens of all prompts and completions.',
    }),
  }),
});

builder.queryField('evaluationForecast', (t) =>
  t.field({
    type: EvaluationForecastObject,
    nullable: true,
    description:
      'Estimates the cost of an evaluation, from the texts of its tests and the tokens of its recorded runs. Starts nothing. Requires the scope DEPLOY, and for `replay` the scope RUNS. Errors: DEFINITION_INVALID, DEPLOYMENT_NOT_FOUND, EVALUATION_NOT_FOUND, RUN_NOT_FOUND.',
    authScopes: (_root, { botId, input }) => mayEvaluate(botId, input),
    args: requestArguments,
    resolve: (_root, { botId, input }, { caller, evaluations, search }) =>
      evaluations.forecast(requestOf(botId, input, caller()), search),
  }),
);

builder.mutationField('cancelEvaluation', (t) =>
  t.prismaField({
    type: EvaluationObject,
    description:
      'Cancels an evaluation. Finished cases are kept. No effect on an evaluation that has ended. Requires the scope DEPLOY. Error: EVALUATION_NOT_FOUND.',
    authScopes: scopeOfBot('DEPLOY'),
    args: evaluationArguments,
    resolve: async (query, _root, { id, botId }, { caller, evaluations, prisma }) => {
      const where = visibleById({ id, botId }, caller());
      const visible = await prisma.evaluation.findFirst({ where, select: { id: true } });
      if (!visible) throw notFound('evaluation', id);
      await evaluations.cancel(id);
      return prisma.evaluation.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
);

builder.subscriptionField('evaluationChanged', (t) =>
  t.prismaField({
    type: EvaluationObject,
    description:
      'Emits an evaluation when it begins, after each attempt at a case, and when it ends. A slow subscriber receives only the latest state, and events can repeat. Requires the scope DEPLOY.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: {
      botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
      id: t.arg.id({ required: true, description: 'ID of the evaluation.' }),
    },
    subscribe: async (_root, { botId, id }, { evaluations, prisma, signal }) => {
      const found = await prisma.evaluation.findFirst({
        where: { id, botId },
        select: { id: true },
      });
      if (!found) throw notFound('evaluation', id);
      return evaluations.follow(id, signal);
    },
    resolve: async (query, { message: id, once }, _args, { prisma }) => {
      const evaluation = await once(JSON.stringify(query), () =>
        prisma.evaluation.findUnique({ ...query, where: { id } }),
      );
      if (evaluation) return evaluation;
      throw new GatewayError('evaluation_not_found', `The evaluation "${id}" no longer exists.`);
    },
  }),
);
