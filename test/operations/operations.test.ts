import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Kind, parse, validate, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import * as ofCommand from '../../src/generated/operations/command.ts';
import * as ofConsole from '../../src/generated/operations/console.ts';
import * as ofRest from '../../src/generated/operations/rest.ts';
import { schema } from '../../src/schema/index.ts';
import { STORED_DOCUMENTS } from '../helpers/stored-documents.ts';

const SRC = join(import.meta.dirname, '../../src');

const read = (pattern: string) =>
  globSync(pattern, { cwd: SRC }).map((file) => readFileSync(join(SRC, file), 'utf8'));

/** The names that the files of a folder import from a module of `generated/operations`, for more than their types. */
function importedBy(folder: string, module: string): Set<string> {
  const statement = new RegExp(
    `^import \\{([^}]*)\\} from '(?:\\.\\./)+generated/operations/${module}\\.ts';`,
    'gm',
  );
  const lists = read(`${folder}/**/*.{ts,tsx}`).flatMap((text) =>
    [...text.matchAll(statement)].map(([, names = '']) => names),
  );
  const names = lists.flatMap((list) => list.split(',').map((name) => name.trim()));
  return new Set(names.map((name) => name.split(' as ')[0] ?? ''));
}

describe('the operations', () => {
  test.each(STORED_DOCUMENTS)('match the schema: $name', ({ text }) => {
    expect(validate(schema, parse(text))).toEqual([]);
  });

  // An operation of `shared/` that only one of its users needs belongs to the folder of that user.
  test.each([
    ['REST and MCP', 'transport', 'rest', ofRest],
    ['the console', 'console', 'console', ofConsole],
    ['the command', 'command', 'command', ofCommand],
  ])('of %s are all used', (_user, folder, module, operations) => {
    const used = importedBy(folder, module);
    expect(Object.keys(operations).filter((name) => !used.has(name))).toEqual([]);
  });

  test('use all fragments', () => {
    const document = parse(read('operations/*/*.graphql').join('\n'));
    const used = new Set<string>();
    visit(document, { FragmentSpread: ({ name }) => void used.add(name.value) });
    const unused = document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION && !used.has(definition.name.value)
        ? [definition.name.value]
        : [],
    );
    expect(unused).toEqual([]);
  });

  test('are the only files of their folder', () => {
    expect(globSync('operations/**/*.*', { cwd: SRC, exclude: ['**/*.graphql'] })).toEqual([]);
  });
});
