import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic, SEVERITIES } from '../../src/language/diagnostic.ts';
import { readDefinition } from '../../src/language/read.ts';

/**
 * Each file of `problems/` holds sources with their problems. A line `=== [place] what is wrong` begins one; under the
 * line of a problem stands a `^` at its column, with the message. The place says what is around the lines shown:
 * a source that is right but for them. Without a place they are the whole source.
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
  group: inGroup,
  capability: inCapability,
  input: (text) => inCapability(`      input {\n${text}\n      }\n      get "https://a.example/"`),
  request: (text) => inCapability(`      get "https://a.example/" {\n${text}\n      }`),
};

/** The source that a case shows, and its problems as `LINE:COLUMN message [code]`. */
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

describe.each(readdirSync(DIRECTORY))('problems, %s', (file) => {
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

test('no source is passed over', () => {
  expect(ALL.join('').match(/^=== /gm)?.length).toBeGreaterThanOrEqual(160);
});

test('every code is shown, but for those that need a file or an environment of their own', () => {
  const shown = [...ALL.join('').matchAll(/^ *\^ .* \[([\w-]+)\]$/gm)].map(([, code]) => code);
  const others = [
    'source-too-large',
    'invalid-character',
    'too-many-problems',
    'too-many',
    'too-many-references',
    'long-prompt',
    'env-unset',
    'env-unused',
  ];
  expect([...new Set([...shown, ...others])].toSorted()).toEqual(
    Object.keys(SEVERITIES).toSorted(),
  );
});
