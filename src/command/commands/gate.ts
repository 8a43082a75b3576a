import { UsageError } from '../errors.ts';
import { type Command, command } from '../line/definition.ts';
import { BOT, numberOf } from './options.ts';

export const GATE: readonly Command[] = [
  command({
    name: 'gate',
    group: 'Deployments',
    summary: 'Show what a definition must pass before it runs in production.',
    options: { bot: BOT },
    examples: [{ line: 'parley gate --bot desk', description: 'The gate of the bot desk' }],
    async run(input, context) {
      const { showGate } = await import('../deployments/gate.ts');
      await showGate(input.text('bot'), context);
    },
  }),
  command({
    name: 'gate set',
    group: 'Deployments',
    summary: 'Hold deploys to production back until the definition has passed.',
    details: [
      'The definition must pass its tests, or recorded runs, or both. The options describe the whole gate: they replace the gate that the bot had. The key needs the scope admin.',
    ],
    options: {
      bot: BOT,
      'no-tests': { description: 'Do not run the tests. It needs --replay.' },
      replay: {
        value: 'NUMBER',
        description: 'Repeat this number of the newest recorded runs of production, 1 to 500.',
      },
      feedback: {
        value: 'RATING',
        choices: ['up', 'down'],
        description: 'Repeat only runs with this rating.',
      },
      'max-worse': {
        value: 'NUMBER',
        description: 'How many of the runs may be worse, 0 to 500. Defaults to 0.',
      },
      'max-diverged': {
        value: 'NUMBER',
        description:
          'How many of the runs may make a call that was not recorded, 0 to 500. Defaults to 5.',
      },
      repeat: {
        value: 'NUMBER',
        description: 'How often each test and run is executed, 1 to 10. Defaults to 1.',
      },
    },
    examples: [
      { line: 'parley gate set --bot desk', description: 'All tests must pass' },
      {
        line: 'parley gate set --bot desk --replay 50 --max-worse 1',
        description: 'And of the last 50 runs, at most one may be worse',
      },
    ],
    async run(input, context) {
      const number = (name: 'replay' | 'max-worse' | 'max-diverged' | 'repeat', least: number) => {
        const text = input.text(name);
        return text === undefined
          ? undefined
          : numberOf(name, text, least, name === 'repeat' ? 10 : 500);
      };
      const last = number('replay', 1);
      const rules = {
        feedback: input.choice('feedback', ['up', 'down'] as const),
        maxWorse: number('max-worse', 0),
        maxDiverged: number('max-diverged', 0),
      };
      const tests = !input.flag('no-tests');
      if (last === undefined) {
        if (!tests) throw new UsageError('--no-tests needs --replay: the gate would be empty.');
        if (Object.values(rules).some((rule) => rule !== undefined))
          throw new UsageError('--feedback, --max-worse and --max-diverged need --replay.');
      }
      const replay = last === undefined ? undefined : { last, ...rules };
      const { setGate } = await import('../deployments/gate.ts');
      await setGate(input.text('bot'), { tests, replay, repeat: number('repeat', 1) }, context);
    },
  }),
  command({
    name: 'gate remove',
    group: 'Deployments',
    summary: 'Deploy without a gate from now on.',
    details: [
      'The key needs the scope admin. A deployment that waits keeps its gate. parley deploy --skip-gate goes round the gate once.',
    ],
    options: { bot: BOT },
    examples: [{ line: 'parley gate remove --bot desk', description: 'Remove the gate' }],
    async run(input, context) {
      const { removeGate } = await import('../deployments/gate.ts');
      await removeGate(input.text('bot'), context);
    },
  }),
];
