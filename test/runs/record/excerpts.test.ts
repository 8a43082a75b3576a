import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { makeRuns } from '../../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const LIST = `query ($botId: ID!) {
  runs(botId: $botId, first: 100) { edges { node { inputExcerpt responseExcerpt } } }
}`;

describe('the excerpts of a run', () => {
  test('are the first 200 characters of its texts, also of characters of several bytes', async () => {
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, [
      { input: '🦜'.repeat(300), response: `${'ä'.repeat(199)}bc`, createdAt: new Date(3) },
      { input: 'Hello', createdAt: new Date(2) },
      { input: '', response: '', createdAt: new Date(1) },
    ]);
    const { data } = await tenant.graphql(LIST, { botId: bot });
    expect(data.runs.edges.map(({ node }: { node: object }) => node)).toEqual([
      { inputExcerpt: '🦜'.repeat(200), responseExcerpt: `${'ä'.repeat(199)}b` },
      { inputExcerpt: 'Hello', responseExcerpt: null },
      { inputExcerpt: '', responseExcerpt: '' },
    ]);
  });

  test('do not count as long texts, so a page of long runs is full', async () => {
    const bot = await tenant.bot(null);
    const input = 'x'.repeat(500_000);
    await makeRuns(
      app,
      bot,
      Array.from({ length: 30 }, () => ({ input })),
    );
    const { data } = await tenant.graphql(LIST, { botId: bot });
    expect(data.runs.edges).toHaveLength(30);
  });

  test('need the scope RUNS', async () => {
    const bot = await tenant.bot(null);
    const [run] = await makeRuns(app, bot, [{ input: 'A secret' }]);
    const key = await tenant.key({ scopes: ['CHAT', 'DEPLOY'] });
    const { data, errors } = await app.graphql(
      key,
      'query ($id: ID!) { node(id: $id) { ... on Run { inputExcerpt } } }',
      { id: run?.id },
    );
    expect(JSON.stringify(data)).not.toContain('secret');
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });
});
