import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const DIRECTORY = new URL('../../src/language/', import.meta.url);

test('the language can run in a browser: it imports only itself and one pure package', () => {
  const files = readdirSync(DIRECTORY, { recursive: true, encoding: 'utf8' });
  // schema.ts exposes the language in GraphQL, on the server only.
  const sources = files.filter((file) => file.endsWith('.ts') && file !== 'schema.ts');
  const imported = sources.flatMap((file) => {
    const text = readFileSync(new URL(file, DIRECTORY), 'utf8');
    return [...text.matchAll(/^(?:import|export) .* from '(.+)';$|import\('(.+)'\)/gm)].map(
      ([, name, lazy]) => name ?? lazy,
    );
  });
  const outside = imported.filter(
    (name) => !name?.startsWith('./') && !/^\.\.\/[^.]/.test(name ?? ''),
  );
  expect(new Set(outside)).toEqual(new Set(['fastest-levenshtein']));
  const text = sources.map((file) => readFileSync(new URL(file, DIRECTORY), 'utf8')).join('');
  expect(text).not.toMatch(/\b(?:process|Buffer|require|__dirname)\b[.(]/);
});
