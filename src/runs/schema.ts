import { authorizeScope } from '../accounts/caller.ts';
import { visibleBots } from '../bots/bots.ts';
import { GatewayError } from '../errors.ts';
import { RunKind, RunStatus } from '../generated/prisma/client.ts';
import { builder } from '../schema/builder.ts';
import { ChannelEnum, EnvironmentEnum } from '../schema/shared.ts';

const RunStatusEnum = builder.enumType(RunStatus, {
  name: 'RunStatus',
  description: 'How far a run is. COMPLETED, FAILED and CANCELLED are final.',
});

const RunKindEnum = builder.enumType(RunKind, {
  name: 'RunKind',
  description: 'A turn of a conversation, or a prompt without one.',
});

const RunError = builder.simpleObject('RunError', {
  description: 'Why a run failed.',
  fields: (t) => ({
    code: t.string({ description: 'One of the codes of errors, in capitals.' }),
    message: t.string(),
  }),
});

builder.prismaNode('Run', {
  description: 'One piece of work of a bot, stored before it begins and when it ends.',
  id: { resolve: ({ id }) => id },
  nullable: true,
  findUnique: (id, { caller }) => {
    authorizeScope(caller(), 'RUNS');
    return { id, bot: visibleBots(caller()) };
  },
  fields: (t) => ({
    bot: t.relation('bot'),
    environment: t.expose('environment', { type: EnvironmentEnum }),
    kind: t.expose('kind', { type: RunKindEnum }),
    status: t.expose('status', { type: RunStatusEnum }),
    channel: t.expose('channel', { type: ChannelEnum }),
    user: t.exposeString('sessionId', {
      nullable: true,
      description: 'The end user: the session id.',
    }),
    sessionId: t.exposeString('sessionId', { nullable: true }),
    input: t.exposeString('input', { description: 'What the bot was told.' }),
    response: t.exposeString('response', {
      nullable: true,
      description: 'What it said; of a run that was cut short, so much as it had said.',
    }),
    error: t.field({
      type: RunError,
      nullable: true,
      select: { errorCode: true, errorMessage: true },
      resolve: ({ errorCode, errorMessage }) =>
        errorCode === null ? null : { code: errorCode.toUpperCase(), message: errorMessage ?? '' },
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'The name of the model that was asked.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true }),
    latencyMs: t.exposeInt('latencyMs', {
      nullable: true,
      description:
        'Milliseconds from taking the message, waiting for the turn included, to the end of the run.',
    }),
    promptTokens: t.exposeInt('promptTokens'),
    completionTokens: t.exposeInt('completionTokens'),
    tokensUsed: t.int({
      description: 'promptTokens and completionTokens together.',
      select: { promptTokens: true, completionTokens: true },
      resolve: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
    }),
    tokensEstimated: t.exposeBoolean('tokensEstimated', {
      description: 'Whether the model’s server did not say, so that they are an estimate.',
    }),
    toolsCalled: t.exposeStringList('toolsCalled', {
      description: 'In call order, without repeats: <group>.<capability>.',
    }),
  }),
});

builder.queryField('run', (t) =>
  t.prismaField({
    type: 'Run',
    nullable: true,
    description:
      "One run. RUN_NOT_FOUND also where it is another bot's than the one named. Scope RUNS.",
    authScopes: (_root, { botId }) =>
      botId ? { bot: { id: botId, scope: 'RUNS' } } : { scope: 'RUNS' },
    args: { id: t.arg.id({ required: true }), botId: t.arg.id() },
    resolve: async (query, _root, { id, botId }, { caller, prisma }) => {
      const where = { id, botId: botId ?? undefined, bot: visibleBots(caller()) };
      const run = await prisma.run.findUnique({ ...query, where });
      if (run) return run;
      throw new GatewayError('run_not_found', `There is no run "${id}".`);
    },
  }),
);
