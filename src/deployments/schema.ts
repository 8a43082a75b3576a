import { visibleBots } from '../bots/bots.ts';
import { DeploymentStatus } from '../generated/prisma/client.ts';
import { definitionSource, deployMessage, envName, envValue, MAX_ENV_VARS } from '../input.ts';
import { builder } from '../schema/builder.ts';
import { ChannelEnum, DiagnosticObject, EnvironmentEnum, NEWEST_FIRST } from '../schema/shared.ts';
import { readDiagnostics } from './deployments.ts';

const DeploymentStatusEnum = builder.enumType(DeploymentStatus, {
  name: 'DeploymentStatus',
  description: 'How an attempt to deploy ended. PENDING has not ended yet.',
});

const DeploymentNode = builder.prismaNode('Deployment', {
  description: 'One attempt to deploy a definition. It is never changed once it has ended.',
  id: { resolve: ({ id }) => id },
  nullable: true,
  findUnique: (id, { caller }) => ({ id, bot: visibleBots(caller()) }),
  fields: (t) => ({
    bot: t.relation('bot'),
    environment: t.expose('environment', { type: EnvironmentEnum }),
    status: t.expose('status', { type: DeploymentStatusEnum }),
    message: t.exposeString('message', { nullable: true, description: "The deployer's note." }),
    source: t.exposeString('source', {
      description: 'The definition as it was sent. Scope DEPLOY.',
      authScopes: { scope: 'DEPLOY' },
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
      select: { diagnostics: true },
      resolve: ({ diagnostics }) => readDiagnostics(diagnostics),
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

builder.prismaObjectFields('Bot', (t) => ({
  activeDeployment: t.field({
    type: DeploymentNode,
    nullable: true,
    description: 'What runs now.',
    args: { environment: t.arg({ type: EnvironmentEnum, defaultValue: 'PRODUCTION' }) },
    select: ({ environment }, _context, nested) => ({
      activeDeployments: {
        where: { environment: environment ?? 'PRODUCTION' },
        select: { deployment: nested(true) },
      },
    }),
    resolve: ({ activeDeployments }) => activeDeployments[0]?.deployment ?? null,
  }),
  deployments: t.relatedConnection(
    'deployments',
    {
      cursor: 'id',
      description: 'Every attempt to deploy, the newest first.',
      args: {
        environment: t.arg({ type: EnvironmentEnum }),
        status: t.arg({ type: DeploymentStatusEnum }),
      },
      query: ({ environment, status }) => ({
        where: { environment: environment ?? undefined, status: status ?? undefined },
        orderBy: NEWEST_FIRST,
      }),
    },
    { name: 'DeploymentConnection' },
    { name: 'DeploymentEdge' },
  ),
}));

builder.prismaObjectField('Run', 'deployment', (t) =>
  t.relation('deployment', {
    nullable: true,
    description: 'The deployment that it runs, or ran, on.',
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
      description: 'Laid over the variables of what runs in that environment now.',
      validate: { maxLength: [MAX_ENV_VARS, { message: `must be at most ${MAX_ENV_VARS}` }] },
    }),
    unsetEnvVars: t.stringList({
      description: 'Names that are taken out of them.',
      validate: { items: { schema: envName } },
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
    resolve: (_root, { botId, input }, { deployments }) =>
      deployments.deploy({
        botId,
        environment: input.environment ?? 'PRODUCTION',
        source: input.source,
        message: input.message,
        envVars: Object.fromEntries((input.envVars ?? []).map(({ name, value }) => [name, value])),
        unsetEnvVars: input.unsetEnvVars ?? [],
      }),
  }),
);

const redeployArguments = builder.args((t) => ({
  botId: t.id({ required: true }),
  deploymentId: t.id({ required: true }),
  message: t.string({ description: 'A note for the list.', validate: { schema: deployMessage } }),
}));

builder.mutationField('rollback', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Runs an earlier deployment again: its source, in its environment, with its variables. Scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: redeployArguments,
    resolve: (_root, request, { deployments }) => deployments.rollback(request),
  }),
);

builder.mutationField('promote', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      "Runs a staging deployment's source in production, with production's variables. Scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.",
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: redeployArguments,
    resolve: (_root, request, { deployments }) => deployments.promote(request),
  }),
);
