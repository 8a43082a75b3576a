import { isNonNullType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';
import { startApp, type TestApp } from '../helpers/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

describe('mutations', () => {
  test('are all nullable at the root', () => {
    const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
    expect(fields.length).toBeGreaterThan(14);
    expect(fields.filter(({ type }) => isNonNullType(type))).toEqual([]);
  });

  test('that fail do not hide the secret that another one returns', async () => {
    const { graphql } = await app.tenant();
    const { data, errors } = await graphql(`mutation {
      createApiKey(input: { name: "Web" }) { secret }
      deleteBot(id: "nobody")
      createBot(input: { name: "Desk" }) { name }
    }`);
    expect(data).toEqual({
      createApiKey: { secret: expect.stringMatching(/^parley_sk_/) },
      deleteBot: null,
      createBot: { name: 'Desk' },
    });
    expect(errors).toMatchObject([{ path: ['deleteBot'], extensions: { code: 'BOT_NOT_FOUND' } }]);
  });
});
