import { TEMPLATE_NAMES } from '../definitions/template-names.ts';
import { type Command, command } from '../line/definition.ts';

const FILES = {
  placeholder: 'FILE',
  required: true,
  multiple: true,
  isFile: true,
  description: 'Definitions; - is stdin.',
} as const;

export const DEFINITIONS: readonly Command[] = [
  command({
    name: 'init',
    group: 'Definitions',
    summary: 'Write a first definition, and a file for its variables.',
    details: [
      'It writes TEMPLATE.agent and .env.example, and replaces no file. Only you can read .env.example, and a copy of it.',
    ],
    arguments: {
      directory: {
        placeholder: 'DIR',
        isFile: true,
        description: 'Where to write. Defaults to this directory.',
      },
    },
    options: {
      template: {
        value: 'NAME',
        choices: TEMPLATE_NAMES,
        description: 'The template. It asks in a terminal; the default is support.',
      },
    },
    examples: [
      { line: 'parley init desk --template order-desk', description: 'An order desk in desk/' },
    ],
    async run(input, context) {
      const { init } = await import('../definitions/init.ts');
      const template = input.choice('template', TEMPLATE_NAMES);
      await init(input.text('directory') ?? '.', { template }, context);
    },
  }),
  command({
    name: 'check',
    group: 'Definitions',
    summary: 'Check definitions without a server.',
    details: [
      'It prints every mistake under its line, with a suggestion, and exits with 1 if a definition has one. Warnings do not change the exit code.',
    ],
    arguments: { files: FILES },
    examples: [
      { line: 'parley check desk.agent', description: 'Check one definition' },
      { line: 'parley check bots/*.agent --json', description: 'Check many, for a script' },
      { line: 'git show HEAD:desk.agent | parley check -', description: 'Check stdin' },
    ],
    async run(input, context) {
      const { check } = await import('../definitions/check.ts');
      await check(input.texts('files'), context);
    },
  }),
  command({
    name: 'format',
    group: 'Definitions',
    summary: 'Format definitions in place.',
    arguments: {
      files: { ...FILES, description: 'Definitions; - is stdin, formatted to stdout.' },
    },
    options: {
      check: { description: 'Change nothing, and exit with 1 if a file is not formatted.' },
    },
    examples: [
      { line: 'parley format bots/*.agent', description: 'Format in place' },
      { line: 'parley format --check bots/*.agent', description: 'Check in CI' },
    ],
    async run(input, context) {
      const { format } = await import('../definitions/format.ts');
      await format(input.texts('files'), { onlyCheck: input.flag('check') }, context);
    },
  }),
];
