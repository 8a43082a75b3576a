import { beforeAll, describe, expect, test } from 'vitest';
import type { Environment } from '../../src/generated/prisma/client.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Stores sessions that were used a second apart, the first one last. */
const makeSessions = async (
  botId: string,
  sessions: { sessionId: string; environment?: Environment; secondsAgo?: number }[],
) => {
  const now = Date.now();
  const data = sessions.map(({ sessionId, environment = 'PRODUCTION', secondsAgo }, at) => {
    const lastSeenAt = new Date(now - (secondsAgo ?? at) * 1_000);
    // The order of creation is another one.
    return { id: makeId('ses'), botId, environment, sessionId, lastSeenAt, createdAt: new Date(0) };
  });
  await app.prisma.session.createMany({ data });
  return data;
};

const page = async (botId: string, args = '') => {
  const { data, errors } = await tenant.graphql(
    `{ bot(id: "${botId}") { sessions${args} {
      edges { node { sessionId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    } } }`,
  );
  expect(errors).toBeUndefined();
  const { edges, pageInfo } = data.bot.sessions;
  const ids = edges.map(({ node }: { node: { sessionId: string } }) => node.sessionId);
  return { ids, ...pageInfo };
};

describe('the list of sessions', () => {
  test('has the last used one first, and one moves there with its next message', async () => {
    const bot = await tenant.bot();
    await makeSessions(bot, [{ sessionId: 'new' }, { sessionId: 'old' }]);
    expect((await page(bot)).ids).toEqual(['new', 'old']);
    await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'old' });
    expect((await page(bot)).ids).toEqual(['old', 'new']);
  });

  test('has the sessions of one environment, or merges both, page by page in both directions', async () => {
    const bot = await tenant.bot(null);
    await makeSessions(bot, [
      { sessionId: 'a' },
      { sessionId: 'b', environment: 'STAGING' },
      { sessionId: 'c' },
      { sessionId: 'd', environment: 'STAGING' },
      { sessionId: 'e' },
    ]);
    expect((await page(bot, '(environment: PRODUCTION)')).ids).toEqual(['a', 'c', 'e']);
    expect((await page(bot, '(environment: STAGING)')).ids).toEqual(['b', 'd']);
    const first = await page(bot, '(first: 2)');
    expect([first.ids, first.hasNextPage]).toEqual([['a', 'b'], true]);
    const second = await page(bot, `(first: 2, after: "${first.endCursor}")`);
    expect([second.ids, second.hasNextPage]).toEqual([['c', 'd'], true]);
    const rest = await page(bot, `(first: 2, after: "${second.endCursor}")`);
    expect([rest.ids, rest.hasNextPage]).toEqual([['e'], false]);
    const before = await page(bot, `(last: 2, before: "${rest.startCursor}")`);
    expect([before.ids, before.hasPreviousPage]).toEqual([['c', 'd'], true]);
  });

  test('tells sessions of the same millisecond apart', async () => {
    const bot = await tenant.bot(null);
    const sessions = ['a', 'b', 'c'].map((sessionId) => ({ sessionId, secondsAgo: 0 }));
    const made = await makeSessions(bot, sessions);
    const ids = made.toSorted((a, b) => (a.id < b.id ? 1 : -1)).map(({ sessionId }) => sessionId);
    const first = await page(bot, '(first: 1)');
    const rest = await page(bot, `(first: 5, after: "${first.endCursor}")`);
    expect([...first.ids, ...rest.ids]).toEqual(ids);
  });

  test('has no sessions of drafts', async () => {
    const bot = await tenant.bot(null);
    const [session] = await makeSessions(bot, [{ sessionId: 'draft' }, { sessionId: 'kept' }]);
    const id = session?.id ?? '';
    await app.prisma.session.update({ where: { id }, data: { sessionId: `draft_${id}` } });
    expect((await page(bot)).ids).toEqual(['kept']);
  });
});
