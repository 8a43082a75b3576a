import { z } from 'zod';
import { visibleBots } from '../bots/bots.ts';
import { readDiagnostics } from '../deployments/diagnostics.ts';
import { GatewayError } from '../errors.ts';
import type { AnsweringDeployment } from '../idempotency/deployments.ts';
import { namespaceOf } from '../idempotency/key.ts';
import {
  definitionSource,
  deployMessage,
  envName,
  envValue,
  idempotencyKey,
  listOf,
  MAX_ENV_VARS,
} from '../input.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { seenBy } from './nodes.ts';
import { ChannelEnum, DeploymentStatusEnum, DiagnosticObject, EnvironmentEnum } from './shared.ts';
import { DEPLOYMENT_TEXTS } from './texts.ts';

const seenDeployment = seenBy((ids, { prisma, caller }) =>
  prisma.deployment.findMany({
    where: { id: { in: ids }, bot: visibleBots(caller()) },
    select: { id: true },
  }),
);

const DeploymentNode = builder.prismaNode('Deployment', {
  description: 'One attempt to deploy a definition. It is never changed once it has ended.',
  id: { resolve: ({ id }) => id },
  // Columns are read as they are asked for: sources and sets of variables are long.
  select: { id: true },
  nullable: true,
  findUnique: seenDeployment,
  fields: (t) => ({
    bot: t.relation('bot'),
    environment: t.expose('environment', { type: EnvironmentEnum }),
    status: t.expose('status', { type: DeploymentStatusEnum }),
    message: t.exposeString('message', { nullable: true, description: "The deployer's note." }),
    source: t.string({
      description: 'The definition as it was sent. Scope DEPLOY.',
      authScopes: { scope: 'DEPLOY' },
      select: { id: true },
      resolve: async (deployment, _args, context, info) =>
        z.string().parse(await DEPLOYMENT_TEXTS.read(deployment, 'source', context, info)),
    }),
    envNames: t.exposeStringList('envNames', {
      description: 'The names of its variables. Their values are not shown to anybody.',
    }),
    channels: t.expose('channels', {
      type: [ChannelEnum],
      description: 'Where it is reached.',
    }),
    diagnostics: t.field({
      type: [DiagnosticObject],
      description: 'Errors and warnings in the order of the source.',
      select: { id: true },
      resolve: async (deployment, _args, context, info) =>
        readDiagnostics(await DEPLOYMENT_TEXTS.read(deployment, 'diagnostics', context, info)),
    }),
    active: t.boolean({
      description: 'Whether it is what runs in its environment now.',
      select: { activeIn: { select: { environment: true } } },
      resolve: ({ activeIn }) => activeIn.length > 0,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    deployedAt: t.expose('deployedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the attempt ended.',
    }),
    rolledBackTo: t.relation('rolledBackTo', {
      nullable: true,
      description: 'The deployment whose source and variables it took over.',
    }),
  }),
});

builder.prismaObjectField('Run', 'deployment', (t) =>
  t.relation('deployment', {
    nullable: true,
    description:
      'The deployment that it runs, or ran, on. Scope RUNS, but in the answer of the operation that began the run.',
    authScopes: ({ id }) => ({ run: id }),
  }),
);

const EnvVarInput = builder.inputType('EnvVarInput', {
  description: 'A variable that the definition refers to as env.NAME.',
  fields: (t) => ({
    name: t.string({ required: true, validate: { schema: envName } }),
    value: t.string({
      required: true,
      description: 'Kept encrypted and never shown; at most 32 KiB.',
      validate: { schema: envValue },
    }),
  }),
});

const IDEMPOTENCY_KEY =
  'The same request with the same key is answered by the first one’s deployment, for 24 hours; another one is refused with IDEMPOTENCY_CONFLICT. 1 to 255 visible ASCII characters.';

const DeployInput = builder.inputType('DeployInput', {
  description: 'A definition to run.',
  fields: (t) => ({
    source: t.string({
      required: true,
      description: 'In agentlang 5, at most 256 KiB.',
      validate: { schema: definitionSource },
    }),
    environment: t.field({ type: EnvironmentEnum, description: 'PRODUCTION by default.' }),
    message: t.string({
      description: 'A note for the list.',
      validate: { schema: deployMessage },
    }),
    envVars: t.field({
      type: [EnvVarInput],
      description:
        'Laid over the variables of what runs in that environment now. A deployment has at most 200, with 64 KiB of values together. One whose value is carried over goes to no server that it was not sent to before.',
      validate: { maxLength: [MAX_ENV_VARS, { message: `must be at most ${MAX_ENV_VARS}` }] },
    }),
    unsetEnvVars: t.stringList({
      description: `Names that are taken out of them, at most ${MAX_ENV_VARS}.`,
      validate: { schema: listOf(envName, MAX_ENV_VARS) },
    }),
    idempotencyKey: t.string({
      description: IDEMPOTENCY_KEY,
      validate: { schema: idempotencyKey },
    }),
  }),
});

function namesEachVariableOnce({ envVars, unsetEnvVars }: typeof DeployInput.$inferInput) {
  const names = [...(envVars ?? []).map(({ name }) => name), ...(unsetEnvVars ?? [])];
  return new Set(names).size === names.length;
}

builder.mutationField('deploy', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Makes a definition run from the very next request on. One with errors changes nothing: its status is FAILED, and its diagnostics say why. Scope DEPLOY.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: {
      botId: t.arg.id({ required: true }),
      input: t.arg({
        type: DeployInput,
        required: true,
        validate: {
          refine: [namesEachVariableOnce, { message: 'must name each variable once' }],
        },
      }),
    },
    resolve: async (_root, { botId, input }, context) => {
      const deployment = await context.deployments.deploy({
        botId,
        environment: input.environment ?? 'PRODUCTION',
        source: input.source,
        message: input.message,
        envVars: Object.fromEntries((input.envVars ?? []).map(({ name, value }) => [name, value])),
        unsetEnvVars: input.unsetEnvVars ?? [],
        idempotency: idempotencyOf(input.idempotencyKey, botId, context),
      });
      return answeredBy(deployment, context);
    },
  }),
);

const redeployArguments = builder.args((t) => ({
  botId: t.id({ required: true }),
  deploymentId: t.id({ required: true }),
  message: t.string({ description: 'A note for the list.', validate: { schema: deployMessage } }),
  idempotencyKey: t.string({
    description: IDEMPOTENCY_KEY,
    validate: { schema: idempotencyKey },
  }),
}));

builder.mutationField('rollback', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Runs an earlier deployment again: its source, in its environment, with its variables. Scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: redeployArguments,
    resolve: async (_root, { idempotencyKey: key, ...request }, context) => {
      const idempotency = idempotencyOf(key, request.botId, context);
      return answeredBy(await context.deployments.rollback({ ...request, idempotency }), context);
    },
  }),
);

builder.mutationField('promote', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      "Runs a staging deployment's source in production, with production's variables. Scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.",
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: redeployArguments,
    resolve: async (_root, { idempotencyKey: key, ...request }, context) => {
      const idempotency = idempotencyOf(key, request.botId, context);
      return answeredBy(await context.deployments.promote({ ...request, idempotency }), context);
    },
  }),
);

builder.subscriptionField('deploymentChanged', (t) =>
  t.prismaField({
    type: 'Deployment',
    description:
      'Every attempt to deploy to a bot from now on, as it is then: a hint to read its lists anew, since one that replaces another makes that inactive. Some may come twice.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId } }),
    args: { botId: t.arg.id({ required: true }) },
    subscribe: (_root, { botId }, { deploymentChanges, signal }) =>
      deploymentChanges.follow(botId, signal),
    resolve: async (query, id, _args, { prisma }) => {
      const deployment = await prisma.deployment.findUnique({ ...query, where: { id } });
      if (deployment) return deployment;
      throw new GatewayError('deployment_not_found', `There is no deployment "${id}" any more.`);
    },
  }),
);

function idempotencyOf(key: string | null | undefined, botId: string, { caller }: Context) {
  if (key == null) return undefined;
  return { accountId: caller().account.id, namespace: namespaceOf(caller(), botId), key };
}

/** Tells the client whether an earlier request's deployment answers it. */
function answeredBy(deployment: AnsweringDeployment, { setHeader }: Context): AnsweringDeployment {
  if (deployment.isReplayed) setHeader('Idempotency-Replayed', 'true');
  return deployment;
}
