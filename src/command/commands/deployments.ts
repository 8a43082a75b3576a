import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { type Command, command } from '../line/definition.ts';
import {
  BOT,
  DEFINITION,
  ENV,
  LIMIT,
  limitOf,
  MESSAGE,
  SKIP_GATE,
  VAR,
  VARS,
  YES,
} from './options.ts';

export const DEPLOYMENTS: readonly Command[] = [
  command({
    name: 'deploy',
    group: 'Deployments',
    summary: 'Deploy a definition to a bot.',
    details: [
      'It shows the difference to the definition that runs, and asks. A definition with mistakes is not deployed. Values of variables are never shown; variables that are not given keep their values.',
      'If the bot has a gate, the command waits for it and prints each case. It exits with 1 if the gate holds the deployment back.',
    ],
    arguments: {
      file: DEFINITION,
    },
    options: {
      bot: BOT,
      env: { ...ENV, description: 'The environment. Defaults to production.' },
      message: MESSAGE,
      'skip-gate': SKIP_GATE,
      var: VAR,
      vars: VARS,
      unset: { value: 'NAME', multiple: true, description: 'Remove a variable.' },
      yes: YES,
    },
    examples: [
      { line: 'parley deploy desk.agent --bot desk', description: 'Show the difference and ask' },
      {
        line: 'parley deploy desk.agent --bot desk --env staging --vars .env --yes',
        description: 'From CI, to staging, with variables',
      },
      {
        line: 'parley deploy desk.agent --var ORDERS_KEY',
        description: 'Take a value from the environment, or ask for it',
      },
    ],
    async run(input, context) {
      const { deploy } = await import('../deployments/deploy.ts');
      await deploy(
        input.required('file'),
        {
          bot: input.text('bot'),
          environment: input.choice('env', ENVIRONMENT_NAMES) ?? 'production',
          message: input.text('message'),
          skipGate: input.flag('skip-gate'),
          vars: input.texts('var'),
          varsFile: input.text('vars'),
          unset: input.texts('unset'),
          yes: input.flag('yes'),
        },
        context,
      );
    },
  }),
  command({
    name: 'deployments',
    group: 'Deployments',
    summary: 'List the latest deployments of a bot, failed ones included.',
    options: { bot: BOT, env: ENV, limit: LIMIT },
    examples: [
      {
        line: 'parley deployments --bot desk --env staging',
        description: 'The deployments to staging',
      },
    ],
    async run(input, context) {
      const { listDeployments } = await import('../deployments/list.ts');
      const environment = input.choice('env', ENVIRONMENT_NAMES);
      const limit = limitOf(input.text('limit'));
      await listDeployments({ bot: input.text('bot'), environment, limit }, context);
    },
  }),
  command({
    name: 'rollback',
    group: 'Deployments',
    summary: 'Deploy an earlier deployment again, with its variables.',
    details: ['Without ID, it offers the latest deployments. It shows the difference, and asks.'],
    arguments: { id: { placeholder: 'ID', description: 'The ID of the deployment.' } },
    options: {
      bot: BOT,
      env: { ...ENV, description: 'The environment of the list. Defaults to production.' },
      message: MESSAGE,
      yes: YES,
    },
    examples: [
      { line: 'parley rollback --bot desk', description: 'Choose from a list' },
      { line: 'parley rollback dep_01m7 --bot desk --yes', description: 'From a script' },
    ],
    async run(input, context) {
      const { rollback } = await import('../deployments/rollback.ts');
      const options = {
        bot: input.text('bot'),
        environment: input.choice('env', ENVIRONMENT_NAMES) ?? ('production' as const),
        message: input.text('message'),
        yes: input.flag('yes'),
      };
      await rollback(input.text('id'), options, context);
    },
  }),
  command({
    name: 'promote',
    group: 'Deployments',
    summary: 'Deploy what runs in staging to production.',
    details: [
      'Production keeps its own variables. It shows the difference, and asks. It waits for the gate of the bot, if there is one.',
    ],
    arguments: {
      id: {
        placeholder: 'ID',
        description: 'A deployment to staging. Defaults to the active one there.',
      },
    },
    options: { bot: BOT, message: MESSAGE, 'skip-gate': SKIP_GATE, yes: YES },
    examples: [{ line: 'parley promote --bot desk', description: 'Show the difference and ask' }],
    async run(input, context) {
      const { promote } = await import('../deployments/promote.ts');
      const options = {
        bot: input.text('bot'),
        message: input.text('message'),
        skipGate: input.flag('skip-gate'),
        yes: input.flag('yes'),
      };
      await promote(input.text('id'), options, context);
    },
  }),
];
