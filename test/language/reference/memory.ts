import { expect } from 'vitest';
import { agentWith, codesOf, define, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const MEMORY: Sentences = {
  '`memory` declares the facts that the agent may keep about a user, each with a name and an optional description.':
    () => {
      expect(define(agentWith('  memory {\n name "Who"\n city\n }')).memory).toEqual([
        { name: 'name', description: 'Who' },
        { name: 'city', description: undefined },
      ]);
      expect(define(agentWith('')).memory).toEqual([]);
    },
  'An agent has at most 64 facts.': () => {
    const facts = (count: number) =>
      agentWith(`  memory { ${many(count, (index) => `f${index}`)} }`);
    expect(define(facts(64)).memory).toHaveLength(64);
    expect(codesOf(facts(65))).toEqual(['too-many']);
  },
};
