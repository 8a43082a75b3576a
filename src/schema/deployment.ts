import { z } from 'zod';
import { visibleBots } from '../bots/bots.ts';
import { readDiagnostics } from '../deployments/diagnostics.ts';
import { GatewayError } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
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
import { longColumns } from './long-columns.ts';
import { ChannelEnum, DeploymentStatusEnum, DiagnosticObject, EnvironmentEnum } from './shared.ts';
import { visibleNode } from './visible-node.ts';

export const DEPLOYMENT_TEXTS = longColumns(Prisma.sql`deployments`, {
  source: 'source',
  diagnostics: 'diagnostics',
});

const visibleDeployment = visibleNode((ids, { prisma, caller }) =>
  prisma.deployment.findMany({
    where: { id: { in: ids }, bot: visibleBots(caller()) },
    select: { id: true },
  }),
);

const DeploymentNode = builder.prismaNode('Deployment', {
  description:
    'An attempt to deploy a definition. Immutable once its status is DEPLOYED or FAILED.',
  id: { resolve: ({ id }) => id, description: 'Unique identifier. Opaque; it never changes.' },
  // Sources and variables are long, so each column is read only when the query selects it.
  select: { id: true },
  nullable: true,
  findUnique: visibleDeployment,
  fields: (t) => ({
    bot: t.relation('bot', { description: 'The bot that the deployment belongs to.' }),
    environment: t.expose('environment', {
      type: EnvironmentEnum,
      description: 'Environment that the deployment targets.',
    }),
    status: t.expose('status', {
      type: DeploymentStatusEnum,
      description: 'Status of the deployment.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'Note from the deployer.' }),
    source: t.string({
      description: 'Source of the definition, as submitted. Requires the scope DEPLOY.',
      authScopes: { scope: 'DEPLOY' },
      select: { id: true },
      resolve: async (deployment, _args, context, info) =>
        z.string().parse(await DEPLOYMENT_TEXTS.read(deployment, 'source', context, info)),
    }),
    envNames: t.exposeStringList('envNames', {
      description: 'Names of the environment variables. Their values are never returned.',
    }),
    channels: t.expose('channels', {
      type: [ChannelEnum],
      description: 'Channels connected to the deployment.',
    }),
    diagnostics: t.field({
      type: [DiagnosticObject],
      description: 'Errors and warnings, in source order.',
      select: { id: true },
      resolve: async (deployment, _args, context, info) =>
        readDiagnostics(await DEPLOYMENT_TEXTS.read(deployment, 'diagnostics', context, info)),
    }),
    active: t.boolean({
      description: 'Whether this is the active deployment of its environment.',
      select: { activeIn: { select: { environment: true } } },
      resolve: ({ activeIn }) => activeIn.length > 0,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    deployedAt: t.expose('deployedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the attempt finished. Null while it is pending.',
    }),
    rolledBackTo: t.relation('rolledBackTo', {
      nullable: true,
      description: 'The earlier deployment that a rollback copied. Null for other deployments.',
    }),
  }),
});

builder.prismaObjectField('Run', 'deployment', (t) =>
  t.relation('deployment', {
    nullable: true,
    description:
      'The deployment that the run uses. Requires the scope RUNS, except in the response of the operation that started the run.',
    authScopes: ({ id }) => ({ run: id }),
  }),
);

const EnvVarInput = builder.inputType('EnvVarInput', {
  description: 'An environment variable. The definition refers to it as `env.NAME`.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description:
        'Name of the variable: at most 128 letters, digits and "_". It does not start with a digit.',
      validate: { schema: envName },
    }),
    value: t.string({
      required: true,
      description: 'Value of the variable, at most 32 KiB. Stored encrypted and never returned.',
      validate: { schema: envValue },
    }),
  }),
});

const IDEMPOTENCY_KEY =
  'Key that makes retries safe, 1 to 255 visible ASCII characters. For 24 hours, the same request with this key returns the first deployment; a different request fails with IDEMPOTENCY_CONFLICT.';

const DeployInput = builder.inputType('DeployInput', {
  description: 'Parameters of a deployment.',
  fields: (t) => ({
    source: t.string({
      required: true,
      description: 'Source of the definition in agentlang 5, at most 256 KiB.',
      validate: { schema: definitionSource },
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Environment to deploy to. Defaults to PRODUCTION.',
    }),
    message: t.string({
      description: 'Note shown in the list of deployments, at most 1,000 characters.',
      validate: { schema: deployMessage },
    }),
    envVars: t.field({
      type: [EnvVarInput],
      description:
        'Variables to set, on top of those of the active deployment. A deployment has at most 200 variables with 64 KiB of values in total. A variable kept from the active deployment is sent only to servers that already received it.',
      validate: { maxLength: [MAX_ENV_VARS, { message: `must be at most ${MAX_ENV_VARS}` }] },
    }),
    unsetEnvVars: t.stringList({
      description: `Names of variables to remove, at most ${MAX_ENV_VARS}.`,
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
      'Deploys a definition; the next request uses it. A definition with errors changes nothing: its deployment has the status FAILED and diagnostics. Requires the scope DEPLOY.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: {
      botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
      input: t.arg({
        type: DeployInput,
        required: true,
        description: 'Parameters of the deployment.',
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
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  message: t.string({
    description: 'Note shown in the list of deployments, at most 1,000 characters.',
    validate: { schema: deployMessage },
  }),
  idempotencyKey: t.string({
    description: IDEMPOTENCY_KEY,
    validate: { schema: idempotencyKey },
  }),
}));

builder.mutationField('rollback', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Creates a deployment with the source, environment and variables of an earlier one. Requires the scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: {
      deploymentId: t.arg.id({
        required: true,
        description: 'ID of a deployment of the bot whose status is DEPLOYED.',
      }),
      ...redeployArguments,
    },
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
      'Deploys the source of a STAGING deployment to PRODUCTION, with the variables of PRODUCTION. Requires the scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: {
      deploymentId: t.arg.id({
        required: true,
        description: 'ID of a deployment to STAGING whose status is DEPLOYED.',
      }),
      ...redeployArguments,
    },
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
      'Emits each new or changed deployment of a bot. Refetch the list on each event, because a new deployment also deactivates another one. Events can repeat.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId } }),
    args: { botId: t.arg.id({ required: true, description: 'ID of the bot.' }) },
    subscribe: (_root, { botId }, { deploymentChanges, signal }) =>
      deploymentChanges.follow(botId, signal),
    resolve: async (query, id, _args, { prisma }) => {
      const deployment = await prisma.deployment.findUnique({ ...query, where: { id } });
      if (deployment) return deployment;
      throw new GatewayError('deployment_not_found', `The deployment "${id}" no longer exists.`);
    },
  }),
);

function idempotencyOf(key: string | null | undefined, botId: string, { caller }: Context) {
  if (key == null) return undefined;
  return { accountId: caller().account.id, namespace: namespaceOf(caller(), botId), key };
}

/** Marks the response when it returns an earlier request's deployment. */
function answeredBy(deployment: AnsweringDeployment, { setHeader }: Context): AnsweringDeployment {
  if (deployment.isReplayed) setHeader('Idempotency-Replayed', 'true');
  return deployment;
}
