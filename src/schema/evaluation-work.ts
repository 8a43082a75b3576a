import { actorOf } from '../accounts/audit.ts';
import type { Caller } from '../accounts/caller.ts';
import { visibleBots } from '../bots/bots.ts';
import { GatewayError, invalidInput, notFound } from '../errors/errors.ts';
import { type EvaluationRequest, MAX_REPEAT } from '../evaluations/evaluations.ts';
import type { Forecast } from '../evaluations/forecast.ts';
import {
  DEFAULT_REPLAYED,
  MAX_REPLAYED,
  type ReplayRequest,
} from '../evaluations/replay-request.ts';
import { BOUNDS } from '../language/bounds.ts';
import { definitionSource, MAX_ENV_VARS, modelName } from '../text/input.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import { EnvVarInput } from './deploy.ts';
import { EvaluationObject, evaluationArguments, ofEvaluationsBot } from './evaluation.ts';
import { RunFilterInput } from './run-filter.ts';
import { EnvironmentEnum } from './shared.ts';

const EvaluationReplayInput = builder.inputType('EvaluationReplayInput', {
  description: 'The recorded runs that an evaluation repeats, newest first.',
  fields: (t) => ({
    filter: t.field({
      type: RunFilterInput,
      description:
        'Conditions that each run must match. Only finished chats and executions are repeated: those with the status COMPLETED or FAILED. Defaults to all of them.',
    }),
    last: t.int({
      description: `How many of the newest matching runs are repeated, 1 to ${MAX_REPLAYED}. Defaults to ${DEFAULT_REPLAYED}.`,
    }),
    runIds: t.idList({
      description: `IDs of the runs to repeat, at most ${MAX_REPLAYED}, in place of \`filter\` and \`last\`.`,
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [MAX_REPLAYED, { message: `must be at most ${MAX_REPLAYED}` }],
      },
    }),
    session: t.boolean({
      description:
        'Whether each run gets its recorded history and memory. Without them, each message is the first of a conversation. Defaults to true.',
    }),
  }),
});

const EvaluationInput = builder.inputType('EvaluationInput', {
  description: 'What to evaluate.',
  fields: (t) => ({
    source: t.string({
      description:
        'Source of the definition in agentlang 5, at most 256 KiB. Either this, `deploymentId` or `evaluationId`.',
      validate: { schema: definitionSource },
    }),
    deploymentId: t.id({ description: 'ID of the deployment whose source is evaluated.' }),
    evaluationId: t.id({
      description: 'ID of the evaluation whose source is evaluated again.',
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Environment whose variables are used. Defaults to PRODUCTION.',
    }),
    envVars: t.field({
      type: [EnvVarInput],
      description:
        'Variables in addition to the variables of the active deployment. A variable of the active deployment is sent only to URLs that already received it, compared up to the first template in their path.',
      validate: { maxLength: [MAX_ENV_VARS, { message: `must be at most ${MAX_ENV_VARS}` }] },
    }),
    tests: t.boolean({
      description:
        'Whether the tests of the definition are cases. Required to be true without `replay`. Defaults to true.',
    }),
    testNames: t.stringList({
      description: `Names of the tests that are cases, at most ${BOUNDS.tests}. Defaults to all tests.`,
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [BOUNDS.tests, { message: `must be at most ${BOUNDS.tests}` }],
      },
    }),
    replay: t.field({
      type: EvaluationReplayInput,
      description:
        'Recorded runs that are cases too: each is repeated with the definition, with its recorded message, context, history, memory and time, and with the recorded results of its tools. Requires the scope RUNS too.',
    }),
    repeat: t.int({
      description: `How often each case is executed, 1 to ${MAX_REPEAT}. A case passes if all of its attempts pass. Defaults to 1.`,
    }),
    model: t.string({
      description: 'Model in place of the model of the definition, at most 128 characters.',
      validate: { schema: modelName },
    }),
  }),
});

/** The arguments of an evaluation and of its forecast. */
const requestArguments = builder.args((t) => ({
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  input: t.field({
    type: EvaluationInput,
    required: true,
    description: 'What to evaluate.',
  }),
}));

/** Who may evaluate: recorded runs need the scope RUNS too. */
const mayEvaluate = (botId: string, { replay }: typeof EvaluationInput.$inferInput) => ({
  $all: {
    bot: { id: botId, scope: 'DEPLOY' as const },
    ...(replay && { scope: 'RUNS' as const }),
  },
});

function requestOf(
  botId: string,
  input: typeof EvaluationInput.$inferInput,
  caller: Caller,
): EvaluationRequest {
  const { environment, envVars, tests, testNames, replay, repeat, model } = input;
  if (tests === false && testNames) throw invalidInput([NO_TESTS_BUT_NAMES]);
  return {
    ...actorOf(caller),
    botId,
    environment: environment ?? DEFAULT_ENVIRONMENT,
    of: sourceOf(input),
    envVars: Object.fromEntries((envVars ?? []).map(({ name, value }) => [name, value])),
    tests: testNames ?? tests ?? true,
    replay: replay ? replayOf(replay) : undefined,
    repeat: repeat ?? 1,
    model: model ?? undefined,
  };
}

function sourceOf({
  source,
  deploymentId,
  evaluationId,
}: typeof EvaluationInput.$inferInput): EvaluationRequest['of'] {
  const given = [
    ...(source == null ? [] : [{ source }]),
    ...(deploymentId == null ? [] : [{ deploymentId }]),
    ...(evaluationId == null ? [] : [{ evaluationId }]),
  ];
  const [only] = given;
  if (!only || given.length > 1) throw invalidInput([ONE_SOURCE]);
  return only;
}

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

const ONE_SOURCE = {
  path: 'input.source',
  message: 'is required without deploymentId and evaluationId, and does not go together with them',
};
const NO_TESTS_BUT_NAMES = { path: 'input.testNames', message: 'requires tests to be true' };

function replayOf({
  filter,
  last,
  runIds,
  session,
}: typeof EvaluationReplayInput.$inferInput): ReplayRequest {
  if (runIds && (filter || last != null)) throw invalidInput([NO_IDS]);
  const of = runIds ? { runIds } : { filter: filter ?? {}, last: last ?? DEFAULT_REPLAYED };
  return { of, session: session ?? true };
}

const NO_IDS = {
  path: 'input.replay.runIds',
  message: 'does not go together with filter or last',
};

builder.mutationField('cancelEvaluation', (t) =>
  t.prismaField({
    type: EvaluationObject,
    description:
      'Cancels an evaluation. Finished cases are kept. No effect on an evaluation that has ended. Requires the scope DEPLOY. Error: EVALUATION_NOT_FOUND.',
    authScopes: (_root, args) => ofEvaluationsBot(args),
    args: evaluationArguments,
    resolve: async (query, _root, { id, botId }, { caller, evaluations, prisma }) => {
      const where = { id, botId: botId ?? undefined, bot: visibleBots(caller()) };
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
