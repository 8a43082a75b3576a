import { decodeHTML } from 'entities';
import { Kind, parse, print, validate } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { startApp } from '../helpers/app.ts';

let preset: string;
beforeAll(async () => {
  const app = await startApp();
  const page = await fetch(`${app.url}/graphql`, { headers: { accept: 'text/html' } });
  preset = decodeHTML(/data-query="([^"]*)"/.exec(await page.text())?.[1] ?? '');
});

describe('the initial document of GraphiQL', () => {
  test('chats, then streams a chat, then lists the bots', () => {
    const operations = parse(preset).definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? [definition] : [],
    );
    const fields = operations.map(({ operation, selectionSet }) => {
      const [field] = selectionSet.selections;
      return `${operation} ${field?.kind === Kind.FIELD ? field.name.value : ''}`;
    });
    expect(fields).toEqual(['mutation chat', 'subscription chat', 'query viewer']);
    const [chat] = operations;
    expect(chat && print(chat)).toMatch(/\) \{\n {4}response\n/);
  });

  test('is valid, and at most 100 columns wide', () => {
    expect(validate(schema, parse(preset))).toEqual([]);
    expect(Math.max(...preset.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
