import { expect } from 'vitest';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, codesOf, define, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const MCP: Sentences = {
  '`tools NAME mcp` with a URL or `env.NAME` is a group with the tools of a server of the Model Context Protocol.':
    () => {
      const source = agentWith('  tools g mcp "https://a.example/mcp"\n  tools h mcp env.URL');
      expect(define(source).tools).toEqual([
        { type: 'mcp', name: 'g', url: 'https://a.example/mcp', headers: [] },
        { type: 'mcp', name: 'h', url: { env: 'URL' }, headers: [] },
      ]);
      expect(readDefinition(source).tools).toEqual(['g.*', 'h.*']);
    },
  "The block of a server may have headers, and `only` with the tools to offer; a tool's name that is not a name of this language is written in quotes.":
    () => {
      const source = agentWith('  tools g mcp env.URL { header "A" "a" only b, "c-d" }');
      expect(define(source).tools).toMatchObject([
        { headers: [{ name: 'A', value: ['a'] }], only: ['b', 'c-d'] },
      ]);
      expect(readDefinition(source).tools).toEqual(['g.b', 'g.c-d']);
      expect(codesOf(source.replaceAll('"c-d"', 'c-d'))).toEqual(['invalid-name']);
    },
  '`only` names at most 128 tools.': () => {
    const only = (count: number) =>
      agentWith(`  tools g mcp env.U { only ${many(count, (index) => `t${index}`, ', ')} }`);
    expect(codesOf(only(128))).toEqual([]);
    expect(codesOf(only(129))).toEqual(['too-many']);
  },
};
