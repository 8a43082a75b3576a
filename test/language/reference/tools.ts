import { expect } from 'vitest';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, codesOf, define, many, problemsOf } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const TOOLS: Sentences = {
  '`tools` with a block is a group of capabilities, each called by the model as `<group>.<capability>`.':
    () => {
      const capability = (name: string) => `capability ${name} "d" { get "https://a.example/" }`;
      const source = agentWith(`  tools g { ${capability('b')} ${capability('a')} }`);
      expect(readDefinition(source).tools).toEqual(['g.a', 'g.b']);
      expect(define(source).tools).toMatchObject([
        { type: 'http', name: 'g', capabilities: [{ name: 'b' }, { name: 'a' }] },
      ]);
    },
  '`tools time` is built in and has `time.now`; another name without a block is an error.': () => {
    expect(define(agentWith('  tools time')).tools).toEqual([{ type: 'builtin', name: 'time' }]);
    expect(readDefinition(agentWith('  tools time')).tools).toEqual(['time.now']);
    expect(codesOf(agentWith('  tools orders'))).toEqual(['unknown-group']);
  },
  'No group is called `memory`: the memory tools have that name.': () => {
    for (const rest of ['', ' { }', ' mcp env.URL'])
      expect(codesOf(agentWith(`  tools memory${rest}`))).toEqual(['reserved-name']);
  },
  'An agent has at most 16 groups of tools, and at most 128 capabilities in all of them.': () => {
    const groups = (count: number) => many(count, (index) => `tools g${index} mcp env.U`, '\n');
    expect(define(agentWith(groups(16))).tools).toHaveLength(16);
    expect(codesOf(agentWith(groups(17)))).toEqual(['too-many']);
    const group = (name: string, count: number) =>
      `tools ${name} { ${many(count, (index) => `capability c${index} "d" { get "https://a.b/" }`)} }\n`;
    expect(readDefinition(agentWith(group('a', 100) + group('b', 28))).tools).toHaveLength(128);
    expect(problemsOf(agentWith(`${group('a', 100)}${group('b', 29)}`))).toEqual([
      expect.stringMatching(/^6:.* expected at most 128 capabilities, found 129 \[too-many\]$/),
    ]);
  },
};
