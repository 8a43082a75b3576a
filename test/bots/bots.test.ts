import { beforeAll, describe, expect, test, vi } from 'vitest';
import { actorOf } from '../../src/accounts/audit.ts';
import { createBots } from '../../src/bots/bots.ts';
import { createMemoryVersions } from '../../src/coordination/cache-versions.ts';
import { createPubSub } from '../../src/coordination/pubsub.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeKeys } from '../helpers/keys.ts';
import { withMember } from '../helpers/lossy-database.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const CREATE = 'mutation ($input: CreateBotInput!) { createBot(input: $input) { id name } }';

describe('bots', () => {
  test('are created with a chosen id or a generated one', async () => {
    const id = `desk-${tenant.accountId.slice(-8)}`;
    const chosen = await tenant.graphql(CREATE, { input: { id, name: 'Desk' } });
    expect(chosen.data.createBot).toEqual({ id, name: 'Desk' });
    const made = await tenant.graphql(CREATE, { input: { name: 'Nameless' } });
    expect(made.data.createBot.id).toMatch(/^bot_[0-9a-z]{26}$/);
  });

  test('have unique ids', async () => {
    const id = await tenant.bot();
    const { errors } = await (await app.tenant()).graphql(CREATE, { input: { id, name: 'Twin' } });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ path: 'input.id', message: `"${id}" is taken` }],
    });
  });

  test.each(['', 'a b', 'ü', 'x'.repeat(65), 'run_1', 'acc_me', 'a/b'])(
    'cannot have the id %j',
    async (id) => {
      const { errors } = await tenant.graphql(CREATE, { input: { id, name: 'Bot' } });
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ path: 'input.id' }],
      });
    },
  );

  test('are renamed, and keep their name if none is given', async () => {
    const id = await tenant.bot(null);
    const update = async (input: object) => {
      const query =
        'mutation ($id: ID!, $input: UpdateBotInput!) { updateBot(id: $id, input: $input) { id name } }';
      return (await tenant.graphql(query, { id, input })).data.updateBot;
    };
    expect(await update({ name: ' Desk ' })).toEqual({ id, name: 'Desk' });
    expect(await update({})).toEqual({ id, name: 'Desk' });
    expect(await update({ name: '' })).toBeNull();
    const entries = await app.prisma.auditEntry.findMany({ where: { botId: id } });
    expect(entries.map(({ action }) => action)).toEqual(['UPDATE_BOT', 'UPDATE_BOT']);
  });

  test('are found by a part of their name or id, of either case', async () => {
    const owner = await app.tenant();
    const [desk, other] = [await owner.bot(null), await owner.bot(null)];
    await app.prisma.bot.update({ where: { id: desk }, data: { name: '100 % Ärger_Desk' } });
    const find = async (search: string | null) => {
      const query =
        'query ($search: String) { bots(search: $search) { edges { node { id } } } viewer { account { bots(search: $search) { edges { node { id } } } } } }';
      const { data } = await owner.graphql(query, { search });
      expect(data.viewer.account.bots).toEqual(data.bots);
      return data.bots.edges.map(({ node }: { node: { id: string } }) => node.id);
    };
    expect(await find('r_dESK')).toEqual([desk]);
    expect(await find('100 %')).toEqual([desk]);
    expect(await find(` ${other.toUpperCase()} `)).toEqual([other]);
    expect(await find('%')).toEqual([desk]);
    expect(await find('nothing')).toEqual([]);
    expect(await find('')).toEqual([other, desk]);
    expect(await find(null)).toEqual([other, desk]);
    const { errors } = await owner.graphql(
      'query ($search: String) { bots(search: $search) { pageInfo { hasNextPage } } }',
      {
        search: 'x'.repeat(201),
      },
    );
    expect(errors?.[0]?.extensions?.code).toBe('INVALID_REQUEST');
  });

  test('are listed newest first, in pages, and only if the key may access them', async () => {
    const owner = await app.tenant();
    const ids = [await owner.bot(), await owner.bot(), await owner.bot()];
    const page = async (after: string | null) => {
      const { data } = await owner.graphql(
        'query ($after: String) { bots(first: 2, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }',
        { after },
      );
      return data.bots;
    };
    const first = await page(null);
    const second = await page(first.pageInfo.endCursor);
    const listed = [...first.edges, ...second.edges].map(({ node }) => node.id);
    expect(listed).toEqual(ids.toReversed());
    expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false]);

    const [only = ''] = ids;
    const restricted = await owner.key({ botIds: [only] });
    const visible = await app.graphql(
      restricted,
      '{ bots { edges { node { id } } } viewer { account { bots { edges { node { id } } } } } }',
    );
    const edges = [{ node: { id: only } }];
    expect(visible).toEqual({
      data: { bots: { edges }, viewer: { account: { bots: { edges } } } },
    });
  });

  test('are listed after a cursor whose bot was deleted', async () => {
    const owner = await app.tenant();
    const ids = [await owner.bot(null), await owner.bot(null), await owner.bot(null)];
    const page = async (args: string) => {
      const { data } = await owner.graphql(
        `{ viewer { account { bots(${args}) { edges { cursor node { id } } } } } }`,
      );
      return data.viewer.account.bots.edges;
    };
    const [newest] = await page('first: 1');
    await owner.graphql(`mutation { deleteBot(id: "${newest.node.id}") }`);
    const rest = await page(`first: 2, after: "${newest.cursor}"`);
    expect(rest.map(({ node }: { node: { id: string } }) => node.id)).toEqual(
      ids.slice(0, 2).toReversed(),
    );
  });

  test.each([
    ['first: -1', 'must not be negative'],
    ['first: 101', 'must not be more than 100'],
    [`after: "${btoa('GPC:N:1')}"`, 'ursor'],
    ['after: "nonsense"', 'ursor'],
  ])('are refused for %s', async (argument, message) => {
    const { errors } = await tenant.graphql(`{ bots(${argument}) { edges { cursor } } }`);
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
    expect(errors?.[0]?.message).toContain(message);
  });

  test('are returned by id, with errors for other accounts’ bots and unknown ids', async () => {
    const mine = await tenant.bot();
    const foreignBot = await (await app.tenant()).bot();
    const read = (id: string) => tenant.graphql('query ($id: ID!) { bot(id: $id) { id } }', { id });
    expect((await read(mine)).data).toEqual({ bot: { id: mine } });
    expect((await read(foreignBot)).errors?.[0]?.extensions.code).toBe('BOT_ACCESS_DENIED');
    expect((await read('nobody')).errors?.[0]?.extensions.code).toBe('BOT_NOT_FOUND');
    const nodes = await tenant.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: [foreignBot, mine, 'nobody'],
    });
    expect(nodes.data).toEqual({ nodes: [null, { id: mine }, null] });
  });

  test('are deleted with all of their data, and removed from the keys restricted to them', async () => {
    const id = await tenant.bot();
    await tenant.key({ botIds: [id] });
    const key = await app.prisma.apiKey.findFirstOrThrow({ where: { botIds: { has: id } } });
    await tenant.chat(id, { message: 'Hello!' });
    const { data } = await tenant.graphql(`mutation { deleteBot(id: "${id}") }`);
    expect(data).toEqual({ deleteBot: id });
    expect(await app.prisma.run.count({ where: { botId: id } })).toBe(0);
    expect(await app.prisma.session.count({ where: { botId: id } })).toBe(0);
    expect((await tenant.chat(id, { message: 'Hello?' })).status).toBe(404);
    const row = await app.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } });
    expect(row).toMatchObject({ restricted: true, botIds: [] });
  });

  test('are deleted even if the end of a run locks the same rows in another order', async () => {
    const id = await tenant.bot();
    const $transaction = vi
      .fn(app.prisma.$transaction.bind(app.prisma) as () => Promise<unknown>)
      .mockRejectedValueOnce(Object.assign(new Error('A deadlock.'), { code: 'P2034' }));
    const parts = { pubsub: createPubSub(), versions: createMemoryVersions() };
    const caller = await makeKeys({ prisma: app.prisma, ...parts }).verify(tenant.apiKey);
    const prisma = withMember(app.prisma, '$transaction', $transaction);
    await createBots({ prisma, ...parts }).remove(id, actorOf(caller));
    expect($transaction).toHaveBeenCalledTimes(2);
    expect(await app.prisma.bot.count({ where: { id } })).toBe(0);
    const deletions = await app.prisma.auditEntry.count({
      where: { botId: id, action: 'DELETE_BOT' },
    });
    expect(deletions).toBe(1);
  });

  test('keep their ids after deletion, so that no other bot gets them', async () => {
    const id = await tenant.bot();
    await tenant.graphql(`mutation { deleteBot(id: "${id}") }`);
    for (const account of [tenant, await app.tenant()]) {
      const { errors } = await account.graphql(CREATE, { input: { id, name: 'Successor' } });
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ path: 'input.id', message: `"${id}" is taken` }],
      });
    }
    expect(await app.prisma.bot.count({ where: { id } })).toBe(0);
  });

  test('are created and deleted only with the scope ADMIN, and not created by a restricted key', async () => {
    const id = await tenant.bot();
    const run = async (apiKey: string, query: string) =>
      (await app.graphql(apiKey, query)).errors?.[0]?.extensions.code;
    const create = 'mutation { createBot(input: { name: "X" }) { id } }';
    const chatting = await tenant.key({ scopes: ['CHAT'] });
    expect(await run(chatting, create)).toBe('INSUFFICIENT_SCOPE');
    expect(await run(chatting, `mutation { deleteBot(id: "${id}") }`)).toBe('INSUFFICIENT_SCOPE');
    expect(await run(await tenant.key({ botIds: [id] }), create)).toBe('BOT_ACCESS_DENIED');
  });
});
