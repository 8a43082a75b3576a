import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatSource } from '../../src/language/format.ts';
import { readDefinition } from '../../src/language/read.ts';

const DIRECTORY = new URL('../../prisma/examples/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, DIRECTORY), 'utf8');

describe.each(readdirSync(DIRECTORY))('the example %s', (file) => {
  const source = read(file);

  test('has no errors or warnings if its variables are set', () => {
    const { envNames } = readDefinition(source);
    const { definition, diagnostics } = readDefinition(source, { envNames });
    expect(diagnostics).toEqual([]);
    expect(definition).not.toBeNull();
  });

  test('is formatted', () => {
    expect(formatSource(source)).toBe(source);
  });
});

test('the demo bot needs no variables or external servers', () => {
  const report = readDefinition(read('demo.agent'));
  expect(report).toMatchObject({
    envNames: [],
    channels: ['web'],
    tools: ['shop.refund', 'time.now'],
  });
  expect(report.definition).toMatchObject({
    name: 'Demo',
    description: 'A friendly bot to try Parley with.',
    prompt: [
      'You are the demo bot of Parley, a gateway for conversational agents. Be brief and kind.',
    ],
    history: 40,
    memory: [{ name: 'name' }, { name: 'city' }],
  });
});
