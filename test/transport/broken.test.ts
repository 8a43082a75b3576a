import { beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { GRAPHQL_READERS, overWebSocket, type Reader } from '../helpers/readers.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

/** A run whose stored events are invalid. */
const broken = async () => {
  const id = makeId('run');
  const run = { botId: bot, environment: 'PRODUCTION', kind: 'CHAT', channel: 'API' } as const;
  const data = { ...run, id, input: 'Hi', status: 'COMPLETED', events: ['canary'] } as const;
  await app.prisma.run.create({ data });
  return id;
};

const all = async (reader: Reader, follow: string) => {
  const items: string[] = [];
  const secret = await tenant.key({ scopes: ['CHAT', 'RUNS'] });
  for await (const { what } of reader({ app, bot, secret, follow })) items.push(what);
  return items;
};

describe('a subscription that breaks', () => {
  test.each(Object.entries({ ...GRAPHQL_READERS, WebSocket: overWebSocket }))(
    'over %s ends with INTERNAL_ERROR',
    async (_way, reader) => {
      expect(await all(reader, await broken())).toEqual(['INTERNAL_ERROR']);
    },
  );
});
