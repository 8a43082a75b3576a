import { visibleBots } from '../bots/visible-bots.ts';
import { readDiagnostics, withoutTests } from '../deployments/diagnostics.ts';
import { waitsForGate } from '../deployments/gate.ts';
import { GatewayError } from '../errors/errors.ts';
import { type ChannelState, Prisma } from '../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { longColumns, TEXT } from './long-columns.ts';
import { ChannelEnum, DeploymentStatusEnum, DiagnosticObject, EnvironmentEnum } from './shared.ts';
import { visibleNode } from './visible-node.ts';

export const DEPLOYMENT_TEXTS = longColumns('Deployment', Prisma.sql`deployments`, {
  source: 'source',
  diagnostics: 'diagnostics',
});

const ChannelStatusEnum = builder.enumType('ChannelStatus', {
  description: 'Whether a channel is connected to its outside service.',
  values: {
    CONNECTED: { description: 'Users reach the bot through the channel.' },
    PENDING: { description: 'The channel is being connected. This takes at most 60 seconds.' },
    UNAVAILABLE: { description: 'Users do not reach the bot through the channel.' },
  } as const,
});

type StateOfChannel = Pick<ChannelState, 'channel' | 'status' | 'problem'>;

const ChannelStateObject = builder.objectRef<StateOfChannel>('ChannelState').implement({
  description: 'The state of a channel that a definition names.',
  fields: (t) => ({
    channel: t.field({
      type: ChannelEnum,
      description: 'The channel.',
      resolve: ({ channel }) => channel,
    }),
    status: t.field({
      type: ChannelStatusEnum,
      description: 'Whether the channel is connected.',
      resolve: ({ status }) => status,
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description:
        'Why the channel is unavailable, or what does not work in a connected one, as a sentence.',
    }),
  }),
});

const visibleDeployment = visibleNode((ids, { prisma, caller }) =>
  prisma.deployment.findMany({
    where: { id: { in: ids }, bot: visibleBots(caller()) },
    select: { id: true },
  }),
);

export const DeploymentNode = builder.prismaNode('Deployment', {
  description:
    'An attempt to deploy a definition. Once its status is DEPLOYED or FAILED, only its channels change. While it waits for a gate, it is PENDING and not active.',
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
    version: t.exposeInt('version', {
      nullable: true,
      description:
        'Number of the deployment among the deployments of its bot, from 1. Failed attempts count. Null if an earlier version of Parley created it during an update.',
    }),
    message: t.exposeString('message', { nullable: true, description: 'Note from the deployer.' }),
    source: t.string({
      description: 'Source of the definition, as submitted. Requires the scope DEPLOY.',
      authScopes: { scope: 'DEPLOY' },
      select: { id: true },
      resolve: async (deployment, _args, context, info) =>
        TEXT.parse(await DEPLOYMENT_TEXTS.read(deployment, 'source', context, info)),
    }),
    envNames: t.exposeStringList('envNames', {
      description: 'Names of the environment variables. Their values are never returned.',
    }),
    sentEnvNames: t.exposeStringList('sentEnvNames', {
      description:
        'Names of the variables whose values were sent with the deployment. The other variables kept the values of `previous`, or got the values of `rolledBackTo`.',
    }),
    channels: t.expose('channels', {
      type: [ChannelEnum],
      description: 'Channels connected to the deployment.',
    }),
    channelStates: t.field({
      type: [ChannelStateObject],
      description:
        'State of each channel that the definition names. Empty for a deployment that failed.',
      select: {
        channels: true,
        channelStates: {
          select: { channel: true, status: true, problem: true },
          orderBy: { channel: 'asc' },
        },
      },
      resolve: ({ channels, channelStates }) => [
        // Channels that need no outside service have no row.
        ...channels
          .filter((channel) => channelStates.every((state) => state.channel !== channel))
          .map((channel) => ({ channel, status: 'CONNECTED' as const, problem: null })),
        ...channelStates,
      ],
    }),
    diagnostics: t.field({
      type: [DiagnosticObject],
      description:
        'Errors and warnings, in source order. Details of failed tests require the scope DEPLOY.',
      select: { id: true },
      resolve: async (deployment, _args, context, info) => {
        const stored = await DEPLOYMENT_TEXTS.read(deployment, 'diagnostics', context, info);
        const all = readDiagnostics(stored);
        return context.caller().key.scopes.includes('DEPLOY') ? all : withoutTests(all);
      },
    }),
    active: t.boolean({
      description: 'Whether this is the active deployment of its environment.',
      select: { activeIn: { select: { environment: true } } },
      resolve: ({ activeIn }) => activeIn.length > 0,
    }),
    waitsForGate: t.boolean({
      description:
        'Whether the deployment waits for the gate of its bot. Its status is PENDING then, and it is not active.',
      select: { gate: true, status: true },
      resolve: waitsForGate,
    }),
    evaluationId: t.exposeID('evaluationId', {
      nullable: true,
      description:
        'ID of the evaluation that the gate of the bot started for it. The evaluation may be deleted. Null without a gate, and until the evaluation has been created.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
    deployedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'Time at which the deployment succeeded. Null while it is pending, and if it failed.',
      select: { deployedAt: true, status: true },
      resolve: ({ deployedAt, status }) => (status === 'FAILED' ? null : deployedAt),
    }),
    endedAt: t.expose('deployedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the attempt ended, also if it failed. Null while it is pending.',
    }),
    keyId: t.exposeID('keyId', {
      nullable: true,
      description:
        'ID of the API key that created the deployment. Null for the deployment of the first start.',
    }),
    previous: t.relation('previous', {
      nullable: true,
      description:
        'The deployment that was active in the environment when this one was created. Null for the first one.',
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

builder.subscriptionField('deploymentChanged', (t) =>
  t.prismaField({
    type: 'Deployment',
    description:
      'Emits each new or changed deployment of a bot. Refetch the list on each event, because a new deployment also deactivates another one. Events can repeat.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId } }),
    args: { botId: t.arg.id({ required: true, description: 'ID of the bot.' }) },
    subscribe: (_root, { botId }, { deploymentChanges, signal }) =>
      deploymentChanges.follow(botId, signal),
    resolve: async (query, { message: id, once }, _args, { prisma }) => {
      const read = () => prisma.deployment.findUnique({ ...query, where: { id } });
      const deployment = await once(JSON.stringify(query), read);
      if (deployment) return deployment;
      throw new GatewayError('deployment_not_found', `The deployment "${id}" no longer exists.`);
    },
  }),
);
