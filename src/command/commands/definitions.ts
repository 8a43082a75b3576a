import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { TEMPLATE_NAMES } from '../definitions/template-names.ts';
import { UsageError } from '../errors.ts';
import { type Command, command } from '../line/definition.ts';
import { BOT, DEFINITION, ENV, numberOf, VAR, VARS } from './options.ts';

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
  command({
    name: 'test',
    group: 'Definitions',
    summary: 'Run the tests of a definition on a server, without a deploy.',
    details: [
      'It prints each test as it ends. No tool is called, and nothing of the bot changes. It exits with 0 if no test failed, 1 if one failed, and 2 if the tests could not be run.',
    ],
    arguments: {
      file: DEFINITION,
    },
    options: {
      bot: BOT,
      env: {
        ...ENV,
        description: 'The environment whose variables are used. Defaults to production.',
      },
      local: {
        description:
          'Run the tests on a server that starts for them, with the settings of this directory and an empty database.',
      },
      repeat: {
        value: 'NUMBER',
        description: 'How often each test is run, 1 to 10. A test passes if all attempts pass.',
      },
      model: { value: 'NAME', description: 'A model in place of the model of the definition.' },
      'judge-model': {
        value: 'NAME',
        description:
          'The model that judges replies, in place of the model that the operator or the definition names.',
      },
      replay: {
        value: 'NUMBER',
        description: 'Also repeat this number of the newest recorded runs, 1 to 500.',
      },
      junit: { value: 'FILE', isFile: true, description: 'Also write the results as JUnit XML.' },
      markdown: {
        value: 'FILE',
        isFile: true,
        description: 'Also write the results as Markdown, for a pull request.',
      },
      var: VAR,
      vars: VARS,
    },
    examples: [
      { line: 'parley test desk.agent --bot desk', description: 'Before a deploy' },
      { line: 'parley test desk.agent --local', description: 'Without a server or a key' },
      {
        line: 'parley test desk.agent --bot desk --repeat 5 --junit results.xml',
        description: 'In CI, five times each',
      },
      {
        line: 'parley test desk.agent --bot desk --replay 50 --markdown results.md',
        description: 'With the last 50 recorded runs',
      },
    ],
    async run(input, context) {
      const repeat = numberOf('repeat', input.text('repeat') ?? '1', 1, 10);
      const given = input.text('replay');
      const local = input.flag('local');
      if (local && (input.text('bot') !== undefined || given !== undefined))
        throw new UsageError('--local does not go together with --bot and --replay.');
      const replay = given === undefined ? undefined : numberOf('replay', given, 1, 500);
      const { test } = await import('../evaluations/test.ts');
      await test(
        input.required('file'),
        {
          bot: input.text('bot'),
          local,
          environment: input.choice('env', ENVIRONMENT_NAMES) ?? 'production',
          repeat,
          model: input.text('model'),
          judgeModel: input.text('judge-model'),
          replay,
          junit: input.text('junit'),
          markdown: input.text('markdown'),
          vars: input.texts('var'),
          varsFile: input.text('vars'),
        },
        context,
      );
    },
  }),
  command({
    name: 'test import',
    group: 'Definitions',
    summary: 'Write the test cases of another system as tests.',
    details: [
      'It reads one JSON object a line: "input" with "expected" and "context", OpenAI Evals\' "input" with "ideal", or promptfoo\'s "vars" with "assert". It prints a test block for each, to paste into the agent. It exits with 2 if a line is no such object.',
    ],
    arguments: {
      file: {
        placeholder: 'FILE',
        required: true,
        isFile: true,
        description: 'A file of JSON lines; - is stdin.',
      },
    },
    options: {},
    examples: [
      { line: 'parley test import cases.jsonl >> tests.txt', description: 'From OpenAI Evals' },
    ],
    async run(input, context) {
      const { importTests } = await import('../evaluations/import-tests.ts');
      await importTests(input.required('file'), context);
    },
  }),
];
