import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { UsageError } from '../errors.ts';
import { type Command, command, type Input } from '../line/definition.ts';
import { BOT, ENV, WHOLE } from './options.ts';

const BOT_ARGUMENT = {
  placeholder: 'BOT',
  description: 'The bot. By default, the one of --bot or parley use.',
} as const;

/** The bot of the first argument or of `--bot`. */
function botOf(input: Input<'id' | 'bot'>): string | undefined {
  const [id, bot] = [input.text('id'), input.text('bot')];
  if (id !== undefined && bot !== undefined && id !== bot)
    throw new UsageError(`The bot is "${id}" and "${bot}". Name one.`);
  return id ?? bot;
}

export const CONVERSATIONS: readonly Command[] = [
  command({
    name: 'chat',
    group: 'Conversations',
    summary: 'Chat with a bot.',
    details: [
      'In a terminal, it holds a conversation: the arrow keys recall earlier messages, Ctrl-C stops the reply, a second Ctrl-C or Ctrl-D leaves. A text on stdin, or --message, is one message. The reply streams to stdout.',
    ],
    arguments: { id: BOT_ARGUMENT },
    options: {
      bot: BOT,
      env: ENV,
      session: {
        value: 'ID',
        short: 's',
        description: 'The session, which keeps the history. By default, a new one.',
      },
      message: { value: 'TEXT', short: 'm', description: 'Send one message and end.' },
      'no-stream': WHOLE,
    },
    examples: [
      { line: 'parley chat desk', description: 'Hold a conversation' },
      {
        line: 'parley chat desk --session user-1 --message "Hello!"',
        description: 'Send one message',
      },
      { line: 'git diff | parley chat reviewer', description: 'Send the output of a program' },
    ],
    async run(input, context) {
      const { chat } = await import('../chat/chat.ts');
      const options = {
        bot: botOf(input),
        environment: input.choice('env', ENVIRONMENT_NAMES),
        session: input.text('session'),
        message: input.text('message'),
        whole: input.flag('no-stream'),
      };
      await chat(options, context);
    },
  }),
  command({
    name: 'execute',
    group: 'Conversations',
    summary: 'Run one prompt without a conversation.',
    arguments: { id: BOT_ARGUMENT },
    options: {
      bot: BOT,
      env: ENV,
      prompt: { value: 'TEXT', description: 'The prompt; - is stdin.' },
      background: { description: 'Queue the run and print its ID.' },
      'no-stream': WHOLE,
    },
    examples: [
      {
        line: 'parley execute desk --prompt "Summarise the week."',
        description: 'Stream the reply',
      },
      {
        line: 'parley execute desk --prompt - < report.txt',
        description: 'Take the prompt from a file',
      },
      {
        line: 'parley execute desk --prompt "Summarise the year." --background',
        description: 'Print the ID of a queued run',
      },
    ],
    async run(input, context) {
      const { execute } = await import('../chat/execute.ts');
      const options = {
        bot: botOf(input),
        environment: input.choice('env', ENVIRONMENT_NAMES),
        prompt: input.text('prompt'),
        background: input.flag('background'),
        whole: input.flag('no-stream'),
      };
      await execute(options, context);
    },
  }),
];
