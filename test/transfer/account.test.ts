import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { createEnvironmentCipher } from '../../src/deployments/environment.ts';
import type { Database } from '../../src/storage/database.ts';
import { embed } from '../../src/storage/embedded.ts';
import { createPrivateFile } from '../../src/storage/private-file.ts';
import { makeId } from '../../src/text/ids.ts';
import { exportAccount } from '../../src/transfer/export-account.ts';
import { readAccountFile, writeAccountFile } from '../../src/transfer/file.ts';
import { importAccount } from '../../src/transfer/import-account.ts';
import { MOVED_TABLES, STAYING_TABLES } from '../../src/transfer/tables.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { makeApproval } from '../helpers/approvals.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { migratedDatabase, testDatabase } from '../helpers/database.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { embeddedTemplate } from '../helpers/embedded-template.ts';
import { makeEvaluation } from '../helpers/evaluations.ts';

const OTHER_CIPHER = createEnvironmentCipher(Buffer.alloc(32, 9));

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

/** A database without rows that is closed at the end of the test. */
async function emptyDatabase(name: string): Promise<Database> {
  const database = await migratedDatabase(`transfer_${name}`);
  atTheEnd(() => database.close());
  return database;
}

/** An account with rows in every table that moves. */
async function accountWithEverything(): Promise<{ tenant: Tenant; bot: string }> {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const logo = Buffer.from('<svg viewBox="0 0 9 9"><path d="M0 0h9"/></svg>').toString('base64');
  const { data, errors } = await tenant.graphql(
    `mutation ($bot: ID!, $source: String!, $logo: String!) {
      updateBot(id: $bot, input: { logo: $logo }) { id }
      createApiKey(input: { name: "second" }) { apiKey { id } }
      deploy(botId: $bot, input: { source: $source, envVars: [{ name: "TOKEN", value: "s3cret" }] }) { id }
    }`,
    { bot, source: agent(), logo },
  );
  expect(errors).toBeUndefined();
  const { prisma } = app;
  const first = await prisma.deployment.findFirstOrThrow({
    where: { botId: bot },
    orderBy: { createdAt: 'asc' },
  });
  const rolledBack = await tenant.graphql(
    'mutation ($bot: ID!, $first: ID!) { rollback(botId: $bot, deploymentId: $first) { id } }',
    { bot, first: first.id },
  );
  expect(rolledBack.errors).toBeUndefined();
  const headers = { 'x-session-id': 'user-1', 'idempotency-key': 'first' };
  const chat = await tenant.chat(bot, { message: 'I like \u00e9clairs.\n\u2028' }, headers);
  const { run_id: runId } = (await chat.json()) as { run_id: string };
  const rated = await tenant.graphql(
    `mutation ($bot: ID!, $run: ID!) {
      addFeedback(runId: $run, rating: UP, note: "Good.") { rating }
      setMemory(botId: $bot, sessionId: "user-1", name: "likes", value: "éclairs") { id }
    }`,
    { bot, run: runId },
  );
  expect(rated.errors).toBeUndefined();
  const deploymentId = data.deploy.id;
  const approvalId = await makeApproval(app, bot, runId, first.id);
  await makeEvaluation({ prisma }, bot);
  await prisma.approvalMessage.create({ data: { approvalId, chatId: -5n, doneAt: new Date() } });
  const telegramBotId = makeId('bot');
  await prisma.channelState.create({
    data: {
      ...{ deploymentId, botId: bot, environment: 'PRODUCTION', channel: 'TELEGRAM' },
      ...{ status: 'CONNECTED', externalId: telegramBotId, registeredUrl: 'https://old.example' },
      availableAt: new Date('2999-01-01'),
    },
  });
  const update = { telegramBotId, botId: bot, environment: 'PRODUCTION', sessionId: 's' } as const;
  const doneAt = new Date();
  await prisma.telegramUpdate.create({
    // More than a number of JavaScript holds.
    data: { ...update, updateId: 9_007_199_254_740_993n, lane: 's', sentIds: [1n], doneAt },
  });
  await prisma.telegramBlockedChat.create({ data: { telegramBotId, chatId: -5n, botId: bot } });
  return { tenant, bot };
}

const suspend = (id: string, { prisma }: Pick<Database, 'prisma'> = app) =>
  prisma.account.update({ where: { id }, data: { suspendedAt: new Date() } });

type Exported = { path: string; key: Uint8Array };

async function exported(
  account: string,
  { prisma }: Pick<Database, 'prisma'> = app,
  own = testCipher,
): Promise<Exported> {
  const path = join(await temporaryDirectory(), 'account.ndjson');
  const key = randomBytes(32);
  await using file = await createPrivateFile(path);
  const forFile = createEnvironmentCipher(key);
  await exportAccount(prisma, account, { own, forFile }, writeAccountFile(file, key));
  return { path, key };
}

async function imported(
  { path, key }: Exported,
  { prisma }: Pick<Database, 'prisma'>,
  own = OTHER_CIPHER,
) {
  const ofFile = createEnvironmentCipher(key);
  return importAccount(prisma, await readAccountFile(path, key), { own, ofFile });
}

/** All rows of an account by table, without what an import changes. */
async function rowsOf(account: string, { prisma }: Pick<Database, 'prisma'>) {
  const tables = [];
  for (const { name, rows, reset = {} } of MOVED_TABLES) {
    const left = [...Object.keys(reset), 'env_vars'].map((column) => `'${column}'`).join();
    const found = await prisma.$queryRawUnsafe<{ row: string }[]>(
      `SELECT (to_jsonb(moved) - ARRAY[${left}])::text AS row FROM "${name}" AS moved WHERE ${rows} ORDER BY 1`,
      account,
    );
    tables.push({ name, rows: found.map(({ row }) => row) });
  }
  return tables;
}

async function variablesIn(
  { prisma }: Pick<Database, 'prisma'>,
  bot: string,
  cipher: typeof testCipher,
) {
  const deployments = await prisma.deployment.findMany({
    where: { botId: bot },
    orderBy: { version: 'asc' },
  });
  return deployments.map(({ id, envVars }) => envVars && cipher.decrypt(id, envVars));
}

describe('an account that moves', () => {
  test('has a decision for every table', async () => {
    const tables = await app.prisma.$queryRaw<{ name: string }[]>`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`;
    const known = [...MOVED_TABLES.map(({ name }) => name), ...Object.keys(STAYING_TABLES)];
    expect(tables.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
  });

  test('keeps every row and id from PostgreSQL to the embedded database and back, and its keys work', async () => {
    const { tenant, bot } = await accountWithEverything();
    // No request waits for the note of a key's last use, which would change a compared row.
    const used = { accountId: tenant.accountId, lastUsedAt: { not: null } };
    await expect.poll(() => app.prisma.apiKey.count({ where: used })).toBe(1);
    await suspend(tenant.accountId);
    const before = await rowsOf(tenant.accountId, app);
    expect(before.filter(({ rows }) => rows.length === 0)).toEqual([]);

    // On PostgreSQL, the account goes through an embedded database.
    const between = inject('databaseUrl')
      ? await embed({ loadDataDir: await embeddedTemplate() })
      : await migratedDatabase('transfer_between');
    atTheEnd(() => between.close());
    const counts = await imported(await exported(tenant.accountId), between);
    expect(counts).toMatchObject({ accounts: 1, bots: 1, runs: 1, messages: 2, sessions: 1 });
    expect(await rowsOf(tenant.accountId, between)).toEqual(before);
    const target = await emptyDatabase('target');
    await imported(await exported(tenant.accountId, between, OTHER_CIPHER), target, testCipher);
    expect(await rowsOf(tenant.accountId, target)).toEqual(before);
    const variables = await variablesIn(app, bot, testCipher);
    expect(variables).toContainEqual({ TOKEN: 's3cret' });
    expect(await variablesIn(between, bot, OTHER_CIPHER)).toEqual(variables);
    expect(await variablesIn(target, bot, testCipher)).toEqual(variables);

    const elsewhere = await startApp({ database: target });
    const headers = { ...tenant.headers, 'content-type': 'application/json' };
    const chat = () =>
      fetch(`${elsewhere.url}/v1/bots/${bot}/chat`, {
        method: 'POST',
        headers: { ...headers, 'x-session-id': 'user-1' },
        body: '{"message": "What do I like?"}',
      });
    expect((await chat()).status).toBe(401);
    await target.prisma.account.update({
      where: { id: tenant.accountId },
      data: { suspendedAt: null },
    });
    await expect.poll(async () => (await chat()).status).toBe(200);
    const prompt = elsewhere.upstream.requests.at(-1)?.body.messages.map(({ content }) => content);
    expect(prompt).toContain('I like éclairs.\n\u2028');
    await elsewhere.close();
  });

  test('has its variables only encrypted in the file, which nobody else can read', async () => {
    const { tenant } = await accountWithEverything();
    await suspend(tenant.accountId);
    const { path, key } = await exported(tenant.accountId);
    const text = await readFile(path, 'utf8');
    expect(text).toContain('éclairs');
    for (const secret of ['s3cret', tenant.apiKey, Buffer.from(key).toString('base64')])
      expect(text).not.toContain(secret);
  });
});

describe('an export', () => {
  test('refuses an account that is unknown, not suspended, being deleted, active, or of an operator', async () => {
    const { accountId } = await app.tenant();
    await expect(exported('acc_none')).rejects.toThrow('There is no account "acc_none".');
    await expect(exported(accountId)).rejects.toThrow('is not suspended');
    await suspend(accountId);
    const operator = await app.tenant();
    await operator.key({ scopes: ['OPERATOR'] });
    await suspend(operator.accountId);
    await expect(exported(operator.accountId)).rejects.toThrow('a key with the scope OPERATOR');
    const busy = await app.tenant();
    const bot = await busy.bot();
    await app.prisma.run.create({
      data: {
        ...{ id: makeId('run'), botId: bot, environment: 'PRODUCTION', kind: 'CHAT', input: '' },
        ...{ status: 'QUEUED', channel: 'API', availableAt: new Date('2999-01-01'), attempt: 2 },
      },
    });
    await suspend(busy.accountId);
    await expect(exported(busy.accountId)).rejects.toThrow('1 runs of the account');
    const where = { id: accountId };
    await app.prisma.account.update({ where, data: { deletedAt: new Date() } });
    await expect(exported(accountId)).rejects.toThrow('is being deleted');
  });
});

describe('an import', () => {
  let file: Exported;
  let lines: string[];
  let account: string;
  let bot: string;
  beforeAll(async () => {
    const made = await accountWithEverything();
    ({ bot } = made);
    account = made.tenant.accountId;
    await suspend(account);
    file = await exported(account);
    lines = (await readFile(file.path, 'utf8')).split('\n');
  });

  const writtenWith = async (changed: string): Promise<Exported> => {
    const path = join(await temporaryDirectory(), 'changed.ndjson');
    await writeFile(path, changed);
    return { path, key: file.key };
  };

  test('of a file that is cut, changed or longer stores nothing', async () => {
    const target = await emptyDatabase('broken');
    const text = lines.join('\n');
    const broken: [string, string][] = [
      [text.slice(0, text.length / 2), 'is cut off'],
      [text.slice(0, text.indexOf('\n', text.length / 2) + 1), 'is cut off'],
      [text.replace('éclairs', 'cookies'), 'was changed'],
      [lines.toSpliced(-3, 1).join('\n'), 'was changed'],
      [`${text}${lines.at(-3)}\n`, 'has lines after its end'],
      [text.replace('"table":"runs"', '"table":"owners"'), 'an unknown table, owners'],
      [lines.with(3, '{"other": 1}').join('\n'), 'has an unknown line 4'],
      ['', 'is not the file of an exported account'],
      [lines.slice(1).join('\n'), 'is not the file of an exported account'],
    ];
    for (const [changed, problem] of broken)
      await expect(imported(await writtenWith(changed), target), problem).rejects.toThrow(problem);
    const other = { path: file.path, key: randomBytes(32) };
    await expect(imported(other, target)).rejects.toThrow('another export');
    await expect(imported({ ...file, path: '/nowhere' }, target)).rejects.toThrow(
      '/nowhere cannot be read: ENOENT.',
    );
    expect(await target.prisma.account.count()).toBe(0);
    expect(await imported(file, target)).toMatchObject({ bots: 1 });
  });

  test('refuses an account that exists, and names bots whose ids are taken', async () => {
    const { prisma } = await testDatabase();
    await expect(imported(file, { prisma })).rejects.toThrow(`The account "${account}" exists`);
    const target = await emptyDatabase('taken');
    await target.prisma.deletedBot.create({ data: { id: bot } });
    await expect(imported(file, target)).rejects.toThrow(
      `bots with the ids of the account: "${bot}"`,
    );
    expect(await target.prisma.account.count()).toBe(0);
    await target.prisma.deletedBot.deleteMany();
    const other = makeId('acc');
    await target.prisma.account.create({ data: { id: other, name: 'Other', plan: 'FREE' } });
    const key = await prisma.apiKey.findFirstOrThrow({ where: { accountId: account } });
    await target.prisma.apiKey.create({ data: { ...key, createdById: null, accountId: other } });
    await expect(imported(file, target)).rejects.toThrow('Rows of the account exist');
    expect(await target.prisma.bot.count()).toBe(0);
  });

  test('refuses what another operator may have put into a file: a key of an operator, an account that is not suspended', async () => {
    const target = await emptyDatabase('crafted');
    const crafted = async (table: string, change: (row: Record<string, unknown>) => object) => {
      const path = join(await temporaryDirectory(), 'crafted.ndjson');
      await using handle = await createPrivateFile(path);
      const { header, rows } = await readAccountFile(file.path, file.key);
      const writer = writeAccountFile(handle, file.key);
      await writer.begin(header);
      for await (const one of rows) {
        const row = one.table === table ? JSON.stringify(change(JSON.parse(one.row))) : one.row;
        await writer.write([{ ...one, row }]);
      }
      await writer.finish();
      return { path, key: file.key };
    };
    const withOperator = await crafted('api_keys', (row) => ({ ...row, scopes: ['OPERATOR'] }));
    await expect(imported(withOperator, target)).rejects.toThrow('a key with the scope OPERATOR');
    const active = await crafted('accounts', (row) => ({ ...row, suspended_at: null }));
    await expect(imported(active, target)).rejects.toThrow('is not suspended');
    const other = await crafted('bots', (row) => ({ ...row, account_id: 'acc_other' }));
    const owner = { id: 'acc_other', name: 'Other', plan: 'FREE' as const };
    await target.prisma.account.create({ data: owner });
    await expect(imported(other, target)).rejects.toThrow('bots belong to another account');
    expect(await target.prisma.bot.count()).toBe(0);
    expect(await target.prisma.apiKey.count()).toBe(0);
  });

  test('refuses a file of another version', async () => {
    const target = await emptyDatabase('version');
    const [first = '', ...rest] = lines;
    const header = JSON.stringify({ ...JSON.parse(first), migration: '20200101000000_first' });
    await expect(imported(await writtenWith([header, ...rest].join('\n')), target)).rejects.toThrow(
      'The file has the tables of 20200101000000_first',
    );
  });
});
