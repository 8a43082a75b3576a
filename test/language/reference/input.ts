import { expect } from 'vitest';
import { agentWithCapability, capabilityOf, codesOf, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const inputOf = (fields: string) =>
  capabilityOf(`      input {\n${fields}\n      }\n      get "https://a.example/"`).input;

export const INPUT: Sentences = {
  'An input has a name, a type and an optional description for the model.': () => {
    const type = { kind: 'string', list: false };
    expect(inputOf('a string "x"\nb string')).toEqual([
      { name: 'a', type, optional: false, description: 'x' },
      { name: 'b', type, optional: false, description: undefined },
    ]);
  },
  'The types are `string`, `number`, `integer` and `boolean`, a list of one of them as in `string[]`, and a choice of strings as in `"late" | "lost"`.':
    () => {
      const fields = 'a string "x"\nb number\nc integer[]\nd boolean [ ]\ne "late" | "lost" "y"';
      expect(inputOf(fields).map(({ type }) => type)).toEqual([
        { kind: 'string', list: false },
        { kind: 'number', list: false },
        { kind: 'integer', list: true },
        { kind: 'boolean', list: true },
        { kind: 'choice', choices: ['late', 'lost'] },
      ]);
    },
  'A `?` after the type makes an input optional.': () => {
    const fields = 'a string? "x"\nb number[] ?\nc "x" | "y"?\nd string';
    expect(inputOf(fields).map(({ optional }) => optional)).toEqual([true, true, true, false]);
  },
  'A capability has at most 64 inputs, and a type has at most 100 choices.': () => {
    const fields = (count: number) => many(count, (index) => `f${index} string "d"`, '\n');
    const choices = (count: number) => `a ${many(count, (index) => `"c${index}"`, ' | ')} "d"`;
    expect(inputOf(fields(64))).toHaveLength(64);
    expect(inputOf(choices(100))).toHaveLength(1);
    for (const input of [fields(65), choices(101)])
      expect(codesOf(agentWithCapability(`input { ${input} } get "https://a.b/"`))).toEqual([
        'too-many',
      ]);
  },
};
