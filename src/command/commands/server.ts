import { type Command, command } from '../line/definition.ts';
import { VAR, VARS } from './options.ts';

export const SERVER: readonly Command[] = [
  command({
    name: 'start',
    group: 'Server',
    summary: 'Start the server in this directory.',
    details: [
      'The settings are environment variables, or lines of a file .env in this directory, where all other variables are ignored. Ctrl-C stops the server gracefully; a second Ctrl-C stops it at once. The server needs Node.js 24, which npm installs with Parley.',
    ],
    examples: [
      {
        line: 'parley start',
        description: 'Start with the embedded database and the offline model',
      },
      { line: 'PORT=8080 parley start', description: 'Listen on another port' },
    ],
    async run(_input, context) {
      const { start } = await import('../local/start.ts');
      await start(context);
    },
  }),
  command({
    name: 'dev',
    group: 'Server',
    summary: 'Start the server, and deploy a definition at each save.',
    details: [
      'Without FILE, it watches the only .agent file of this directory. Mistakes are shown under their lines, and nothing is deployed until they are corrected. The key of a first start is stored in the profile "local".',
    ],
    arguments: {
      file: { placeholder: 'FILE', isFile: true, description: 'The definition to watch.' },
    },
    options: {
      bot: { value: 'ID', short: 'b', description: 'The bot to deploy to. Defaults to demo.' },
      var: VAR,
      vars: VARS,
    },
    examples: [
      {
        line: 'parley dev desk.agent',
        description: 'Deploy desk.agent to the bot demo at each save',
      },
      {
        line: 'parley dev desk.agent --bot desk --vars .env',
        description: 'With a bot and variables',
      },
    ],
    async run(input, context) {
      const { dev } = await import('../local/dev.ts');
      const bot = input.text('bot') ?? 'demo';
      const options = { bot, vars: input.texts('var'), varsFile: input.text('vars') };
      await dev(input.text('file'), options, context);
    },
  }),
  command({
    name: 'doctor',
    group: 'Server',
    summary: 'Check the requirements of a server in this directory.',
    details: [
      'It checks Node.js, the settings, the database, Redis, the model server, the port, the clock and the permissions of the data directory, and says what to do.',
    ],
    examples: [
      { line: 'parley doctor', description: 'Check the settings of the environment and .env' },
    ],
    async run(_input, context) {
      const { doctor } = await import('../local/doctor.ts');
      await doctor(context);
    },
  }),
];
