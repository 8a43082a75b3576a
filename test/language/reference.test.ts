import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CHAPTERS } from '../../src/console/screens/studio/language/help.ts';
import { createIsBlocked } from '../../src/egress/guard.ts';
import { BOUNDS } from '../../src/language/bounds.ts';
import { DEFAULTS } from '../../src/language/definition.ts';
import { type DiagnosticCode, MAX_DIAGNOSTICS, SEVERITIES } from '../../src/language/diagnostic.ts';
import { formatSource } from '../../src/language/format.ts';
import { BLOCKS, type BlockName, wordsOf } from '../../src/language/grammar.ts';
import { MAX_SOURCE_BYTES } from '../../src/language/source.ts';
import { codesOf, problemsOf } from './helpers.ts';
import { AGENT } from './reference/agent.ts';
import { APPROVAL } from './reference/approval.ts';
import { CAPABILITY } from './reference/capability.ts';
import { CAUSES, deployedNames } from './reference/causes.ts';
import { CHANNEL } from './reference/channel.ts';
import { FILES } from './reference/files.ts';
import { INPUT } from './reference/input.ts';
import { INPUTS } from './reference/inputs.ts';
import { LAYOUT } from './reference/layout.ts';
import { LIMITS } from './reference/limits.ts';
import { MCP } from './reference/mcp.ts';
import { MEMORY } from './reference/memory.ts';
import { MODEL } from './reference/model.ts';
import { type BoundName, boundSentences, defaultSentences } from './reference/numbers.ts';
import { OUTPUT } from './reference/output.ts';
import { PROBLEMS } from './reference/problems.ts';
import { REQUEST } from './reference/request.ts';
import { TEMPLATES } from './reference/templates.ts';
import { TEST } from './reference/test.ts';
import { TOOLS } from './reference/tools.ts';
import { VALUES } from './reference/values.ts';

const PAGE = readFileSync(new URL('../../docs/language/reference.md', import.meta.url), 'utf8');

/** The sections with sentences, in the order of the page. */
const SENTENCES = {
  Files: FILES,
  Values: VALUES,
  agent: AGENT,
  model: MODEL,
  memory: MEMORY,
  output: OUTPUT,
  limits: LIMITS,
  channel: CHANNEL,
  tools: TOOLS,
  capability: CAPABILITY,
  approval: APPROVAL,
  input: INPUT,
  request: REQUEST,
  'How inputs travel': INPUTS,
  mcp: MCP,
  test: TEST,
  Templates: TEMPLATES,
  'Errors and warnings': PROBLEMS,
  Layout: LAYOUT,
};

const TEXTS = new Map(
  PAGE.split(/^##+ /m).map((text) => [text.slice(0, text.indexOf('\n')), text]),
);
const textOf = (section: string) => TEXTS.get(section) ?? expect.fail(`no section ${section}`);
const codeIn = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code = '']) => code,
  );
const sentencesIn = (text: string) =>
  text
    .replace(/^```[\s\S]*?^```$/gm, '')
    .split('\n')
    .flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));

/** The line of a section with the codes of its errors and warnings. */
const CODES = /^Errors: ([^.]*)\.(?:\s+Warnings:\s+([^.]*)\.)?$/m;
const isCode = (text: string): text is DiagnosticCode => Object.hasOwn(SEVERITIES, text);
const codesIn = (text = '') =>
  [...text.matchAll(/`([\w-]+)`/g)].map(([, code = '']) => code).filter(isCode);

describe('the reference', () => {
  for (const [section, sentences] of Object.entries(SENTENCES))
    describe(section, () => {
      for (const [sentence, prove] of Object.entries(sentences)) test(sentence, prove);

      test('lists exactly these sentences, in this order', () => {
        expect(sentencesIn(textOf(section))).toEqual(Object.keys(sentences));
      });
    });

  test('has no sentences in other sections', () => {
    const listed = Object.keys(SENTENCES).flatMap((section) => sentencesIn(textOf(section)));
    expect(sentencesIn(PAGE)).toEqual(listed);
  });

  test.each(Object.keys(BOUNDS) as BoundName[])('has the limit BOUNDS.%s', (name) => {
    for (const sentence of boundSentences[name](BOUNDS[name]))
      expect(sentencesIn(PAGE)).toContainEqual(expect.stringContaining(sentence));
  });

  test('has the limits of a source and of its problems', () => {
    expect(sentencesIn(PAGE)).toContain(
      `A source has at most ${MAX_SOURCE_BYTES} bytes (256 KiB) in UTF-8.`,
    );
    expect(sentencesIn(PAGE)).toContainEqual(
      expect.stringContaining(`At most ${MAX_DIAGNOSTICS} problems are listed`),
    );
  });

  test('has every default', () => {
    for (const [section, sentence] of Object.values(defaultSentences))
      expect(sentencesIn(textOf(section))).toContainEqual(expect.stringContaining(sentence));
    expect(Object.keys(defaultSentences)).toEqual(Object.keys(DEFAULTS));
  });

  test('lists every code with its severity', () => {
    const rows = [...PAGE.matchAll(/^\| `([\w-]+)` \| (error|warning)/gm)];
    const listed = rows.map(([, code, severity]) => [code, severity?.toUpperCase()]);
    expect(listed).toEqual(Object.entries(SEVERITIES));
  });

  test.each(Object.keys(CAUSES))('names the codes of the mistakes of the section %s', (section) => {
    const codes = (CAUSES[section] ?? []).flatMap((source) =>
      codesOf(source, {
        isBlocked: createIsBlocked([]),
        ...(section === 'Values' && { envNames: deployedNames(source) }),
      }),
    );
    const [, errors, warnings] = CODES.exec(textOf(section)) ?? [];
    expect([...new Set(codes)].sort()).toEqual([...codesIn(errors), ...codesIn(warnings)].sort());
    expect(codesIn(errors).filter((code) => SEVERITIES[code] !== 'ERROR')).toEqual([]);
    expect(codesIn(warnings).filter((code) => SEVERITIES[code] !== 'WARNING')).toEqual([]);
  });

  test('names every code in a section', () => {
    const named = Object.keys(CAUSES).flatMap((section) =>
      codesIn(CODES.exec(textOf(section))?.[0]),
    );
    // It counts the problems that are not listed, so no section has its cause.
    const all = Object.keys(SEVERITIES).filter((code) => code !== 'too-many-problems');
    expect([...new Set<string>(named)].sort()).toEqual(all.sort());
  });

  test.each(Object.keys(BLOCKS) as BlockName[])('has every word of the block %s', (block) => {
    const [syntax = ''] = codeIn(textOf(CHAPTERS[block]), 'ebnf');
    const parts = (syntax.match(/\w+/g) ?? []).flatMap((name) => TEXTS.get(name) ?? []);
    const words = parts.flatMap((text) => codeIn(text, 'ebnf')).join('');
    expect(wordsOf(block).filter((word) => !words.includes(`"${word}"`))).toEqual([]);
  });

  test('defines each name of its syntax once', () => {
    const rules = codeIn(PAGE, 'ebnf').join('');
    const defined = [...rules.matchAll(/^(\w+) +=/gm)].map(([, name = '']) => name);
    expect(new Set(defined).size).toBe(defined.length);
    const used = rules.replaceAll(/"[^"]*"/g, '').match(/\b[A-Za-z_]+\b/g) ?? [];
    const isValue = (name: string) => textOf('Values').includes(`\`${name}\``);
    expect(used.filter((name) => !defined.includes(name) && !isValue(name))).toEqual([]);
  });

  const examples = codeIn(PAGE, 'agentlang').map((code) => ({
    start: code.split('\n', 1)[0],
    code,
  }));
  test.each(examples)('has a correct and formatted example: $start', ({ code }) => {
    const { source, depth } = around(code);
    expect(problemsOf(source)).toEqual([]);
    const indented = code.replaceAll(/^(?=.)/gm, ' '.repeat(depth));
    expect(formatSource(source)).toContain(indented);
  });
});

/** Completes an example to a definition. @returns also the indentation of the example in it. */
function around(code: string): { source: string; depth: number } {
  const inAgent = (text: string) =>
    `agentlang 5 agent "A" { description "d" ${/^prompt/m.test(text) ? '' : 'prompt "p"'}\n${text}}`;
  const inGroup = (text: string) => inAgent(`tools g {\n${text}}\n`);
  const tools = 'tools orders { capability lookup "d" { get "https://a.example/" } }\n';
  const [word = ''] = code.split(' ');
  if (word === 'test') return { source: inAgent(`memory { name }\n${tools}${code}`), depth: 2 };
  if (word === 'agentlang') return { source: code, depth: 0 };
  if (word === 'capability') return { source: inGroup(code), depth: 4 };
  if (word === 'input')
    return {
      source: inGroup(`capability c "d" {\n${code}get "https://a.example/" }\n`),
      depth: 6,
    };
  if (word === 'post') return { source: inGroup(`capability c "d" {\n${code}}\n`), depth: 6 };
  return { source: inAgent(code), depth: 2 };
}
