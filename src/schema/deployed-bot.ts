import type { DeployedBot } from '../deployments/deployed-bots.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import { EnvironmentEnum } from './shared.ts';

const DeployedBotObject = builder.objectRef<DeployedBot>('DeployedBot').implement({
  description: 'A bot in an environment in which it is deployed: what OpenAI’s API calls a model.',
  fields: (t) => ({
    botId: t.exposeID('botId', { description: 'ID of the bot.' }),
    environment: t.expose('environment', {
      type: EnvironmentEnum,
      description: 'Environment in which the bot is deployed.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'Time at which the bot was created.',
    }),
    owner: t.string({
      description: 'Name of the account of the bot.',
      resolve: (_bot, _args, { caller }) => caller().account.name,
    }),
  }),
});

builder.queryField('deployedBots', (t) =>
  t.field({
    type: [DeployedBotObject],
    description:
      'Lists the deployed bots that the API key may use, newest first, once for each environment. Requires the scope CHAT.',
    authScopes: { scope: 'CHAT' },
    resolve: (_root, _args, { deployedBots, caller }) => deployedBots.list(caller()),
  }),
);

builder.queryField('deployedBot', (t) =>
  t.field({
    type: DeployedBotObject,
    nullable: true,
    description: 'Retrieves a deployed bot. Requires the scope CHAT. Error: MODEL_NOT_FOUND.',
    authScopes: { scope: 'CHAT' },
    args: {
      botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
      environment: t.arg({
        type: EnvironmentEnum,
        description: 'Environment of the bot. Defaults to PRODUCTION.',
      }),
    },
    resolve: (_root, { botId, environment }, { deployedBots, caller }) =>
      deployedBots.find(caller(), botId, environment ?? DEFAULT_ENVIRONMENT),
  }),
);
