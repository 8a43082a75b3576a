import { beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/ids.ts';
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

/** A run whose events cannot be read. */
const broken = async () => {
  const id = makeId('run');
  const run = { botId: bot, environment: 'PRODUCTION', kind: 'CHAT', channel: 'API' } as const;
  const data = { ...run, id, input: 'Hi', status: 'COMPLETED', events: ['canary'] } as const;
  await app.prisma.run.create({ data });
  return id;
};

const all = async (reader: Reader, follow: string) => {
  const told: string[] = [];
  const secret = await tenant.key({ scopes: ['CHAT', 'RUNS'] });
  for await (const { what } of reader({ app, bot, secret, follow })) told.push(what);
  return told;
};

describe('a subscription that breaks', () => {
  test.each(Object.entries({ ...GRAPHQL_READERS, WebSocket: overWebSocket }))(
    'over %s says so, and ends',
    async (_way, reader) => {
      expect(await all(reader, await broken())).toEqual(['INTERNAL_ERROR']);
    },
  );
});
