import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic, SEVERITIES } from '../../src/language/diagnostic.ts';
import { readDefinition } from '../../src/language/read.ts';

/**
 * Each file of `problems/` contains sources with their problems. A line `=== [place] description` begins a source. Below
 * the line of a problem, a `^` marks its column, followed by the message. The place selects the correct source around
 * the lines; without a place, the lines are the whole source.
 */
const DIRECTORY = new URL('problems/', import.meta.url);

const inAgent = (text: string) =>
  `agentlang 5\nagent "A" {\n  description "d"\n  prompt "p"\n${text}\n}\n`;
const inGroup = (text: string) => inAgent(`  tools g {\n${text}\n  }`);
const inCapability = (text: string) => inGroup(`    capability c "d" {\n${text}\n    }`);

const PLACES: Record<string, (text: string) => string> = {
  file: (text) => text,
  prompt: (text) => `agentlang 5\nagent "A" {\n  description "d"\n${text}\n}\n`,
  agent: inAgent,
  memory: (text) => inAgent(`  memory {\n${text}\n  }`),
  model: (text) => inAgent(`  model "m" {\n${text}\n  }`),
  telegram: (text) => inAgent(`  channel telegram {\n${text}\n  }`),
  server: (text) => inAgent(`  tools g mcp "https://a.example/" {\n${text}\n  }`),
  group: inGroup,
  capability: inCapability,
  input: (text) => inCapability(`      input {\n${text}\n      }\n      get "https://a.example/"`),
  request: (text) => inCapability(`      get "https://a.example/" {\n${text}\n      }`),
};

/** The source of a case, and its problems as `LINE:COLUMN message [code]`. */
function readCase(lines: string[], surround: (text: string) => string) {
  const [before = ''] = surround('\u0000').split('\u0000');
  const firstLine = before.split('\n').length;
  const shown: string[] = [];
  const problems: string[] = [];
  for (const line of lines) {
    const [, indentation, message] = /^( *)\^ (.*)$/.exec(line) ?? [];
    if (indentation === undefined) shown.push(line);
    else problems.push(`${firstLine + shown.length - 1}:${indentation.length + 1} ${message}`);
  }
  return { source: surround(shown.join('\n')), problems };
}

describe.each(readdirSync(DIRECTORY))('problems in %s', (file) => {
  const [, ...cases] = readFileSync(new URL(file, DIRECTORY), 'utf8')
    .replace(/\n$/, '')
    .split(/^=== /m);

  test.each(
    cases.map((text) => {
      const [title = '', ...lines] = text.replace(/\n\n?$/, '').split('\n');
      const [, place = 'file', name = title] = /^\[(\w+)\] (.*)$/.exec(title) ?? [];
      return { name, place, lines };
    }),
  )('$name', ({ place, lines }) => {
    const { source, problems } = readCase(lines, PLACES[place] ?? (() => place));
    const { definition, diagnostics } = readDefinition(source);
    expect(diagnostics.map(formatDiagnostic)).toEqual(problems);
    const hasError = diagnostics.some(({ severity }) => severity === 'ERROR');
    expect(definition === null).toBe(hasError);
  });
});

const ALL = readdirSync(DIRECTORY).map((file) => readFileSync(new URL(file, DIRECTORY), 'utf8'));

test('all sources are tested', () => {
  expect(ALL.join('').match(/^=== /gm)?.length).toBeGreaterThanOrEqual(160);
});

test('every code has a source, except those that need a file, an environment or a server', () => {
  const shown = [...ALL.join('').matchAll(/^ *\^ .* \[([\w-]+)\]$/gm)].map(([, code]) => code);
  const others = [
    'source-too-large',
    'invalid-character',
    'too-many-problems',
    'too-many',
    'too-many-references',
    'long-prompt',
    'private-host',
    'env-unset',
    'env-unused',
  ];
  expect([...new Set([...shown, ...others])].toSorted()).toEqual(
    Object.keys(SEVERITIES).toSorted(),
  );
});
