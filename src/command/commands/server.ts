import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { UsageError } from '../errors.ts';
import { type Command, command } from '../line/definition.ts';
import { ENV, VAR, VARS, YES } from './options.ts';

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
    summary: 'Check the requirements of a server in this directory, or the model of a bot.',
    details: [
      'It checks Node.js, the settings, the database, Redis, the model server, the port, the clock and the permissions of the data directory, and says what to do. The model server gets two short questions, one with a tool and one for JSON, of at most a few thousand tokens.',
      'With --bot, it checks nothing in this directory: the server of the profile asks the model of the bot’s active deployment the same questions, with the settings of its definition. The key needs the scope deploy.',
    ],
    options: {
      bot: { value: 'ID', short: 'b', description: 'Check only the model of this bot.' },
      env: { ...ENV, description: 'The environment of the bot. Defaults to production.' },
    },
    examples: [
      { line: 'parley doctor', description: 'Check the settings of the environment and .env' },
      { line: 'parley doctor --bot desk', description: 'Check the model of the bot desk' },
    ],
    async run(input, context) {
      const bot = input.text('bot');
      const environment = input.choice('env', ENVIRONMENT_NAMES);
      if (bot !== undefined) {
        const { testModel } = await import('../deployments/test-model.ts');
        return testModel(bot, environment ?? 'production', context);
      }
      if (environment) throw new UsageError('--env needs --bot.');
      const { doctor } = await import('../local/doctor.ts');
      await doctor(context);
    },
  }),
  command({
    name: 'key reset-operator',
    group: 'Server',
    summary: 'Make a new operator key, and revoke all others.',
    details: [
      'For a lost operator key: it needs no key, but the settings of the server, so run it on the machine of the server, in the directory of its .env. Stop a server with the embedded database first. Servers on PostgreSQL may run; they refuse the revoked keys within a second. Keys without the scope operator stay valid.',
      'The new key is shown on the terminal. Without a terminal, it is written to operator-key in PARLEY_DATA_DIR, in a file that only you can read.',
    ],
    options: {
      'key-file': {
        value: 'FILE',
        isFile: true,
        description: 'Write the key to a new file that only you can read, and print only its path.',
      },
      yes: YES,
    },
    examples: [
      { line: 'parley key reset-operator', description: 'Ask, then show the new key' },
      {
        line: 'parley key reset-operator --yes --key-file operator-key.txt',
        description: 'From a script, into a file',
      },
    ],
    async run(input, context) {
      const { resetOperator } = await import('../local/reset-operator.ts');
      const options = { yes: input.flag('yes'), keyFile: input.text('key-file') };
      await resetOperator(options, context);
    },
  }),
  command({
    name: 'account export',
    group: 'Server',
    summary: 'Write an account with all its data to a file, to move it to another installation.',
    details: [
      'It needs no key, but the settings of the server, so run it on the machine of the server, in the directory of its .env. Suspend the account first. Stop a server with the embedded database first; servers on PostgreSQL may run.',
      'The file has the bots, deployments, keys, sessions, memory and runs of the account as one JSON value on each line, in plain text. Only you can read it. The variables of deployments are encrypted under a new key, which is in a file of its own.',
    ],
    arguments: {
      id: { placeholder: 'ID', required: true, description: 'The ID of the account.' },
    },
    options: {
      output: {
        value: 'FILE',
        isFile: true,
        description: 'The new file. Defaults to ID.ndjson.',
      },
      'key-file': {
        value: 'FILE',
        isFile: true,
        description: 'The new file for the key. Defaults to the name of the other file with .key.',
      },
    },
    examples: [
      {
        line: 'parley account export acc_01m7 --output acme.ndjson',
        description: 'Write acme.ndjson and acme.ndjson.key',
      },
    ],
    async run(input, context) {
      const { exportAccount } = await import('../local/transfer-account.ts');
      const options = { output: input.text('output'), keyFile: input.text('key-file') };
      await exportAccount(input.required('id'), options, context);
    },
  }),
  command({
    name: 'account import',
    group: 'Server',
    summary: 'Store an account from the file of an export.',
    details: [
      'It needs no key, but the settings of the server, as the export does. The account keeps its IDs and keys, and stays suspended until an operator resumes it. The variables of deployments are encrypted under the secret key of this installation. A file that is cut or changed, and an account or bot that exists, are refused, and nothing is stored then.',
    ],
    arguments: {
      file: { placeholder: 'FILE', required: true, isFile: true, description: 'The file.' },
    },
    options: {
      'key-file': {
        value: 'FILE',
        isFile: true,
        description: 'The file with the key. Defaults to the name of the other file with .key.',
      },
    },
    examples: [
      {
        line: 'parley account import acme.ndjson',
        description: 'Read acme.ndjson and acme.ndjson.key',
      },
    ],
    async run(input, context) {
      const { importAccount } = await import('../local/transfer-account.ts');
      await importAccount(input.required('file'), input.text('key-file'), context);
    },
  }),
  command({
    name: 'stats rebuild',
    group: 'Server',
    summary: 'Count the runs again from which statistics and usage are read.',
    details: [
      'Servers keep totals of the runs of each hour and day, which follow every change by themselves. Rebuild them after runs were changed in the database without its triggers, such as by a restore of single tables. The result says how many totals were wrong.',
      'It needs no key, but the settings of the server, so run it on the machine of the server, in the directory of its .env. Stop a server with the embedded database first; servers on PostgreSQL may run. It can be ended and repeated at any time.',
    ],
    options: {
      bot: { value: 'ID', short: 'b', description: 'Only the runs of this bot.' },
    },
    examples: [
      { line: 'parley stats rebuild', description: 'All bots of all accounts' },
      { line: 'parley stats rebuild --bot desk', description: 'One bot' },
    ],
    async run(input, context) {
      const { rebuildStats } = await import('../local/rebuild-stats.ts');
      await rebuildStats(input.text('bot'), context);
    },
  }),
];
