import { SCOPE_NAMES } from '../../vocabulary/scopes.ts';
import { type Command, command } from '../line/definition.ts';
import { YES } from './options.ts';

const BOT_ID = { placeholder: 'ID', required: true, description: 'The ID of the bot.' } as const;

export const ACCOUNT: readonly Command[] = [
  command({
    name: 'login',
    group: 'Account',
    summary: 'Store an API key for a server.',
    details: [
      'It asks for the key without showing it, or reads it from stdin. The server must accept the key. It is stored in the profile of --profile, or in "default", in a file that only you can read.',
    ],
    arguments: {
      url: {
        placeholder: 'URL',
        description: 'The origin of the server. Defaults to PARLEY_URL, or http://127.0.0.1:4000.',
      },
    },
    examples: [
      { line: 'parley login https://bots.example', description: 'Ask for the key' },
      {
        line: 'parley login https://staging.example --profile staging < key.txt',
        description: 'Read the key from a file, for a second server',
      },
    ],
    async run(input, context) {
      const { login } = await import('../account/login.ts');
      await login(input.text('url'), context);
    },
  }),
  command({
    name: 'logout',
    group: 'Account',
    summary: 'Remove the stored key of a profile.',
    details: ['The key stays valid on the server. parley keys revoke ends it.'],
    examples: [{ line: 'parley logout --profile staging', description: 'Remove one profile' }],
    async run(_input, context) {
      const { logout } = await import('../account/logout.ts');
      await logout(context);
    },
  }),
  command({
    name: 'whoami',
    group: 'Account',
    summary: 'Show the server, the account and the key in use.',
    examples: [
      { line: 'parley whoami', description: 'Show them' },
      { line: 'parley whoami --json', description: 'For a script' },
    ],
    async run(_input, context) {
      const { whoami } = await import('../account/whoami.ts');
      await whoami(context);
    },
  }),
  command({
    name: 'open',
    group: 'Account',
    summary: 'Open the console in the browser, signed in.',
    details: [
      'It prints a link that signs in once, within 15 minutes, with the rights of the key. Without a terminal, it opens no browser. The browser gets the link from a file that only you can read and that exists for 10 seconds, because other users of the machine can read the arguments of programs.',
    ],
    options: { 'no-browser': { description: 'Only print the link.' } },
    examples: [
      { line: 'parley open', description: 'Print the link and open it' },
      { line: 'parley open --no-browser', description: 'For a browser on another machine' },
    ],
    async run(input, context) {
      const { openConsole } = await import('../account/open-console.ts');
      await openConsole({ withBrowser: !input.flag('no-browser') }, context);
    },
  }),
  command({
    name: 'use',
    group: 'Account',
    summary: 'Set the default bot, or the profile in use.',
    details: [
      'With --profile, that profile becomes the one in use. Without ID and --profile, it lists the profiles.',
    ],
    arguments: { bot: { placeholder: 'ID', description: 'The bot of commands without --bot.' } },
    examples: [
      { line: 'parley use desk', description: 'Commands without --bot use the bot desk' },
      { line: 'parley use --profile staging', description: 'Commands use the profile staging' },
    ],
    async run(input, context) {
      const { use } = await import('../account/use.ts');
      await use(input.text('bot'), context);
    },
  }),
  command({
    name: 'bots',
    group: 'Account',
    summary: 'List the bots.',
    examples: [{ line: 'parley bots', description: 'All bots that the key may see' }],
    async run(_input, context) {
      const { listBots } = await import('../account/bots.ts');
      await listBots(context);
    },
  }),
  command({
    name: 'bots create',
    group: 'Account',
    summary: 'Create a bot.',
    arguments: { id: { ...BOT_ID, description: 'The ID, which is permanent.' } },
    options: { name: { value: 'NAME', description: 'The display name. Defaults to the ID.' } },
    examples: [
      { line: 'parley bots create desk --name "Order desk"', description: 'Create the bot desk' },
    ],
    async run(input, context) {
      const { createBot } = await import('../account/bots.ts');
      await createBot(input.required('id'), { name: input.text('name') }, context);
    },
  }),
  command({
    name: 'bots rename',
    group: 'Account',
    summary: 'Change the display name of a bot.',
    arguments: {
      id: BOT_ID,
      name: { placeholder: 'NAME', required: true, description: 'The new display name.' },
    },
    examples: [
      { line: 'parley bots rename desk "Service desk"', description: 'Rename the bot desk' },
    ],
    async run(input, context) {
      const { renameBot } = await import('../account/bots.ts');
      await renameBot(input.required('id'), input.required('name'), context);
    },
  }),
  command({
    name: 'bots delete',
    group: 'Account',
    summary: 'Delete a bot with its deployments, conversations and runs.',
    arguments: { id: BOT_ID },
    options: { yes: YES },
    examples: [
      { line: 'parley bots delete desk --yes', description: 'Delete it without a question' },
    ],
    async run(input, context) {
      const { deleteBot } = await import('../account/bots.ts');
      await deleteBot(input.required('id'), { yes: input.flag('yes') }, context);
    },
  }),
  command({
    name: 'keys',
    group: 'Account',
    summary: 'List the API keys of the account.',
    examples: [{ line: 'parley keys', description: 'All keys, without their secrets' }],
    async run(_input, context) {
      const { listKeys } = await import('../account/keys.ts');
      await listKeys(context);
    },
  }),
  command({
    name: 'keys create',
    group: 'Account',
    summary: 'Create an API key and print it once.',
    arguments: { name: { placeholder: 'NAME', required: true, description: 'The display name.' } },
    options: {
      scope: {
        value: 'SCOPE',
        choices: SCOPE_NAMES,
        multiple: true,
        description: 'Scopes of the key. Defaults to chat.',
      },
      bot: {
        value: 'ID',
        short: 'b',
        multiple: true,
        description: 'Restrict the key to this bot. By default, it may use all bots.',
      },
      expires: {
        value: 'TIME',
        description: 'When the key expires: a duration such as 30d, or a date.',
      },
      output: {
        value: 'FILE',
        isFile: true,
        description: 'Write the key to a new file that only you can read, and print only its ID.',
      },
    },
    examples: [
      {
        line: 'parley keys create web --scope chat --bot desk --expires 30d',
        description: 'A key that chats with one bot for 30 days',
      },
      {
        line: 'parley keys create ci --scope deploy --output key.txt',
        description: 'A key for CI, in a file',
      },
    ],
    async run(input, context) {
      const { createKey } = await import('../account/keys.ts');
      const options = {
        scopes: input.texts('scope'),
        bots: input.texts('bot'),
        expires: input.text('expires'),
        output: input.text('output'),
      };
      await createKey(input.required('name'), options, context);
    },
  }),
  command({
    name: 'keys revoke',
    group: 'Account',
    summary: 'Revoke an API key for ever.',
    details: ['Only the key that the command uses needs a confirmation, or --yes.'],
    arguments: {
      id: { placeholder: 'ID', required: true, description: 'The ID of the key, not its secret.' },
    },
    options: { yes: { short: 'y', description: 'Do not ask before the key in use is revoked.' } },
    examples: [{ line: 'parley keys revoke key_01m7', description: 'Revoke one key' }],
    async run(input, context) {
      const { revokeKey } = await import('../account/keys.ts');
      await revokeKey(input.required('id'), { yes: input.flag('yes') }, context);
    },
  }),
];
