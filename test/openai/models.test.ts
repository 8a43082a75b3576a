import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Asker, createAsker } from './asker.ts';

let app: TestApp;
let tenant: Tenant;
let asker: Asker;
let bot: string;

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  asker = await createAsker(app, tenant.apiKey);
  bot = await tenant.bot();
});

const list = async (key?: string) => {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const answer = await asker.ask('/models', { headers });
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
};

describe('the list of models', () => {
  test('has the deployed bots of the key, newest first, with their owner', async () => {
    const own = await app.tenant();
    const { ask } = await createAsker(app, own.apiKey);
    const first = await own.bot();
    const second = await own.bot();
    await own.bot(null);
    const { createdAt } = await app.prisma.bot.findUniqueOrThrow({ where: { id: first } });
    await app.prisma.bot.update({
      where: { id: second },
      data: { createdAt: new Date(createdAt.getTime() + 5_000) },
    });
    const created = Math.floor(createdAt.getTime() / 1_000);
    const facts = { object: 'model', owned_by: 'Tenant' };
    expect(await (await ask('/models')).json()).toEqual({
      object: 'list',
      data: [
        { id: second, created: created + 5, ...facts },
        { id: first, created, ...facts },
      ],
    });
  });

  test('has a staging deployment as BOT:staging, beside production and without it', async () => {
    const own = await app.tenant();
    const { ask } = await createAsker(app, own.apiKey);
    const staged = await own.bot('', 'STAGING');
    const idsOf = async () => {
      const answer = await ask('/models');
      return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await idsOf()).toEqual([`${staged}:staging`]);
    await own.graphql(
      'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source }) { status } }',
      { id: staged, source: agent() },
    );
    expect(await idsOf()).toEqual([staged, `${staged}:staging`]);
  });

  test('leaves out bots that the key may not use, and is empty for a key without bots', async () => {
    await tenant.bot();
    expect(await list(await tenant.key({ botIds: [bot] }))).toEqual([bot]);
    expect(await list(await tenant.key({ botIds: [] }))).toEqual([]);
    expect(await list((await app.tenant()).apiKey)).toEqual([]);
  });

  test('ignores unknown query parameters', async () => {
    expect((await asker.ask('/models?limit=3&color=red')).status).toBe(200);
  });
});

describe('one model', () => {
  test('is read by its id, also in staging', async () => {
    const staged = await tenant.bot('', 'STAGING');
    for (const id of [bot, `${bot}:production`, `${staged}:staging`]) {
      const answer = await asker.ask(`/models/${id}`);
      const expected = id.replace(':production', '');
      expect(await answer.json()).toMatchObject({ id: expected, object: 'model' });
    }
  });

  test('is not found without a deployment, and for the bot of another account', async () => {
    const undeployed = await tenant.bot(null);
    const foreign = await (await app.tenant()).bot();
    for (const id of [undeployed, `${bot}:staging`, `${bot}:nowhere`, foreign, 'none']) {
      expect(await asker.refusal(`/models/${id}`)).toMatchObject({
        status: 404,
        code: 'model_not_found',
        type: 'not_found_error',
        param: 'model',
      });
    }
  });
});
