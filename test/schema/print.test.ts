import { readFile } from 'node:fs/promises';
import { parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import * as chatOperations from '../../src/operations/chat.ts';
import * as commandOperations from '../../src/operations/command/operations.ts';
import { CONSOLE_DOCUMENTS } from '../../src/operations/console/documents.ts';
import * as deploymentOperations from '../../src/operations/deployments.ts';
import { printedDocuments } from '../../src/operations/print.ts';
import * as runOperations from '../../src/operations/runs.ts';
import { schema } from '../../src/schema/index.ts';
import { printedSchema } from '../../src/schema/print.ts';

describe('the schema', () => {
  test('is printed in schema.graphql; if this fails, run: npm run schema', async () => {
    const file = await readFile(new URL('../../schema.graphql', import.meta.url), 'utf8');
    expect(file).toBe(printedSchema());
  });

  test.each(Object.entries({ ...chatOperations, ...deploymentOperations, ...runOperations }))(
    'validates the operation %s',
    (_name, { document }) => {
      expect(validate(schema, parse(document))).toEqual([]);
    },
  );

  test.each(CONSOLE_DOCUMENTS)("validates the console's document: %s", (document) => {
    expect(validate(schema, parse(document))).toEqual([]);
  });

  test.each(Object.entries(commandOperations))(
    "validates the command's operation %s",
    (_name, { text }) => {
      expect(validate(schema, parse(text))).toEqual([]);
    },
  );

  test('is the source of all generated documents; if this fails, run: npm run documents', async () => {
    for (const [name, content] of Object.entries(await printedDocuments())) {
      const file = new URL(`../../src/operations/${name}`, import.meta.url);
      expect(await readFile(file, 'utf8')).toBe(content);
    }
  });
});
