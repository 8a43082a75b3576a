import { expect } from 'vitest';
import { outputInstructions, readOutput } from '../../../src/agent/output.ts';
import { schemaOfFields } from '../../../src/agent/tools/input.ts';
import { agentWith, codesOf, define, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const OUTPUT: Sentences = {
  '`output` declares the fields of a structured reply, written as the inputs of a capability.':
    () => {
      const source = agentWith('  output {\n city string "Where"\n size "s" | "m"?\n }');
      expect(define(source).output).toEqual([
        {
          name: 'city',
          type: { kind: 'string', list: false },
          optional: false,
          description: 'Where',
        },
        { name: 'size', type: { kind: 'choice', choices: ['s', 'm'] }, optional: true },
      ]);
      expect(define(agentWith('')).output).toBeUndefined();
      expect(codesOf(agentWith('  output { city }'))).toEqual(['syntax']);
      expect(codesOf(agentWith('  output { a string a string }'))).toEqual(['duplicate-name']);
      expect(codesOf(agentWith('  output { a string }'))).toEqual([]);
    },
  'With `output`, the reply is a JSON object of these fields: Parley asks the model for the object, checks it, and lets the model repair one wrong answer.':
    () => {
      const fields = define(agentWith('  output { city string }')).output ?? [];
      const schema = schemaOfFields(fields);
      expect(outputInstructions(schema)).toContain(JSON.stringify(schema));
      expect(readOutput(schema, '{"city": "Oslo"}')).toMatchObject({ output: { city: 'Oslo' } });
      expect(readOutput(schema, '{"city": 5}')).toEqual({ problem: 'city: must be a string' });
    },
  'An output has at most 64 fields.': () => {
    const output = (count: number) =>
      agentWith(`  output { ${many(count, (index) => `f${index} string`, '\n')} }`);
    expect(define(output(64)).output).toHaveLength(64);
    expect(codesOf(output(65))).toEqual(['too-many']);
  },
};
