import { expect } from 'vitest';
import { toolChangesSomething } from '../../../src/language/effects.ts';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, codesOf, define, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const NONE = { approvals: [], reads: [], repeatable: [], labels: [] };

const inServer = (settings: string) => agentWith(`  tools g mcp env.U { ${settings} }`);

const serverOf = (settings: string) => {
  const [group] = define(inServer(settings)).tools;
  return group?.type === 'mcp' ? group : expect.fail('no MCP group');
};

export const MCP: Sentences = {
  '`tools NAME mcp` with a URL or `env.NAME` is a group with the tools of a server of the Model Context Protocol.':
    () => {
      const source = agentWith('  tools g mcp "https://a.example/mcp"\n  tools h mcp env.URL');
      expect(define(source).tools).toEqual([
        { type: 'mcp', name: 'g', url: 'https://a.example/mcp', headers: [], ...NONE },
        { type: 'mcp', name: 'h', url: { env: 'URL' }, headers: [], ...NONE },
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
  '`approval` names the tools whose calls a person decides about, as [above](#approval).': () => {
    expect(serverOf('approval merge, "get-issue"').approvals).toEqual([
      { tools: ['merge', 'get-issue'], reason: null, expiresSeconds: 86_400 },
    ]);
  },
  "A call of a server's tool changes something, unless the server marks the tool with `readOnlyHint` or `reads` names it.":
    () => {
      const group = serverOf('reads search');
      expect(toolChangesSomething(group, 'merge')).toBe(true);
      expect(toolChangesSomething(group, 'merge', false)).toBe(true);
      expect(toolChangesSomething(group, 'merge', true)).toBe(false);
      expect(toolChangesSomething(group, 'search')).toBe(false);
      expect(toolChangesSomething(group, 'search', false)).toBe(false);
    },
  '`reads` names tools that change nothing, for a server that does not mark them.': () => {
    expect(serverOf('reads search, "get-issue"').reads).toEqual(['search', 'get-issue']);
    expect(codesOf(inServer('reads all'))).toEqual(['reserved-name']);
    expect(serverOf('reads "all"').reads).toEqual(['all']);
  },
  '`repeatable` names tools that have an effect only once for the same key, so that a call may be sent again.':
    () => {
      expect(serverOf('repeatable create, "pay"').repeatable).toEqual(['create', 'pay']);
      expect(codesOf(inServer('reads a repeatable b, a'))).toEqual(['no-effect']);
    },
  '`label` names one tool and what visitors of the chat page see of its calls; a tool without one is not shown to them.':
    () => {
      const labels = 'label search "Searched" label "get-issue" "Read the issue"';
      expect(serverOf(labels).labels).toEqual([
        { tool: 'search', label: 'Searched' },
        { tool: 'get-issue', label: 'Read the issue' },
      ]);
      expect(codesOf(inServer('label search'))).toEqual(['syntax']);
      expect(codesOf(inServer('label a "A" label a "B"'))).toEqual(['duplicate-name']);
      expect(codesOf(inServer('label all "A"'))).toEqual(['reserved-name']);
      expect(codesOf(inServer(`label a "${'l'.repeat(61)}"`))).toEqual(['too-long']);
    },
  '`reads`, `repeatable`, `approval` and `label` name tools that `only` offers; without `only`, the deploy warns of a tool that the server does not have.':
    () => {
      for (const word of ['reads', 'repeatable', 'approval']) {
        expect(codesOf(inServer(`only a, b ${word} b`))).toEqual([]);
        expect(codesOf(inServer(`only a, b ${word} b, c`))).toEqual(['unknown-tool']);
        const { places } = readDefinition(inServer(`${word} merge, "get-issue"`));
        expect(places.map(({ tool }) => tool)).toEqual([undefined, 'merge', 'get-issue']);
      }
      expect(codesOf(inServer('only a, b label b "B"'))).toEqual([]);
      expect(codesOf(inServer('only a, b label c "C"'))).toEqual(['unknown-tool']);
      const { places } = readDefinition(inServer('only a, b approval all approval b'));
      expect(places.map(({ tool }) => tool)).toEqual([undefined, 'a', 'b']);
    },
  '`only`, `reads`, `repeatable`, all `approval` and all `label` of a server name at most 128 tools each.':
    () => {
      const list = (count: number) => many(count, (index) => `t${index}`, ', ');
      for (const word of ['only', 'reads', 'repeatable', 'approval']) {
        expect(codesOf(inServer(`${word} ${list(128)}`))).toEqual([]);
        expect(codesOf(inServer(`${word} ${list(129)}`))).toEqual(['too-many']);
      }
      expect(codesOf(inServer(`approval ${list(128)} approval last`))).toEqual(['too-many']);
      const labels = (count: number) => many(count, (index) => `label t${index} "l"`);
      expect(codesOf(inServer(labels(128)))).toEqual([]);
      expect(codesOf(inServer(labels(129)))).toEqual(['too-many']);
    },
};
