import { isObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { OWNER_SCOPES } from '../../src/accounts/accounts.ts';
import { hashApiKey, makeApiKey } from '../../src/accounts/key-format.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { schema } from '../../src/schema/index.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import {
  GUARDED,
  GUARDED_NODES,
  OPEN_FIELDS,
  PARTS,
  TOKEN_FIELDS,
} from './authorisation/fields.ts';
import { type MayRead, type Path, pathsFrom } from './authorisation/paths.ts';
import { type Ids, TABLE } from './authorisation/table.ts';

/** Stands in everything that is of the account's bots. */
const CANARY = 'canary-4711';

let app: TestApp;
let tenant: Tenant;
let ids: Ids;
let nodes: Record<string, string>;
let token: string;
/** The deployment that what runs was rolled back to. */
let first: string;
/** The key that made the others. */
let maker: string;

/** A key that each key with the scope ADMIN covers. @returns its id. */
const addKey = async (bot: string, createdById: string | null) => {
  const grant = { name: 'Limited', scopes: [KeyScope.ADMIN], botIds: [bot] };
  const row = newApiKey(tenant.accountId, makeApiKey(), grant);
  return (await app.prisma.apiKey.create({ data: { ...row, createdById } })).id;
};

beforeAll(async () => {
  app = await startApp();
  app.upstream.script(({ say, end }) => {
    say(`The ${CANARY} sings.`);
    end();
  });
  tenant = await app.tenant();
  const bot = await tenant.bot();
  const source = agent(`prompt "${CANARY}"`);
  await app.prisma.bot.update({ where: { id: bot }, data: { name: CANARY } });
  first = (await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } })).id;
  await app.prisma.deployment.update({ where: { id: first }, data: { source } });
  const { data } = await tenant.graphql(
    `mutation ($bot: ID!, $first: ID!, $source: String!) {
      staging: deploy(botId: $bot, input: { source: $source, environment: STAGING, message: "${CANARY}" }) { id }
      rollback(botId: $bot, deploymentId: $first, message: "${CANARY}") { id }
      chat(botId: $bot, input: { message: "${CANARY}", sessionId: "user-1" }) { runId }
      execute(botId: $bot, input: { prompt: "${CANARY}", metadata: { note: "${CANARY}" } }) { id }
      setMemory(botId: $bot, sessionId: "user-1", name: "bird", value: "${CANARY}") { id }
      createSessionToken(input: { botId: $bot, sessionId: "user-1" }) { token }
    }`,
    { bot, first, source },
  );
  token = data.createSessionToken.token;
  maker = await addKey(bot, null);
  const key = await addKey(bot, maker);
  const lastingKey = await addKey(bot, maker);
  for (const creator of [key, lastingKey]) await addKey(bot, creator);
  ids = {
    account: tenant.accountId,
    bot,
    run: data.chat.runId,
    key,
    lastingKey,
    deployment: data.staging.id,
    otherAccount: (await app.tenant()).accountId,
  };
  nodes = {
    Account: ids.account,
    ApiKey: ids.key,
    Bot: bot,
    Deployment: data.rollback.id,
    Run: ids.run,
    Session: data.setMemory.id,
  };
});

type Data = { [field: string]: Data | Data[] | null };

type Answer = {
  text: string;
  data?: Data | null;
  errors?: { path?: unknown; message: string; extensions: { code: string } }[];
};

const rollBack = () =>
  tenant.graphql(`mutation { rollback(botId: "${ids.bot}", deploymentId: "${first}") { id } }`);

const restoreKey = () =>
  app.prisma.apiKey.update({ where: { id: ids.key }, data: { revokedAt: null } });

/** Makes happen what a subscription waits for. */
const trigger = (name: string) =>
  name.startsWith('Subscription.runChanged')
    ? tenant.chat(ids.bot, { message: CANARY }, { 'x-session-id': 'user-1' })
    : rollBack();

/** The answer to a way's document; of a subscription, its first event. */
const ask = async (secret: string, { name, document }: Path): Promise<Answer> => {
  const isStream = document.startsWith('subscription');
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
    },
    body: JSON.stringify({ query: document }),
  });
  if (!isStream) {
    const text = await response.text();
    // What runs is one that was rolled back to, again.
    if (name.startsWith('Mutation.promote')) await rollBack();
    // The next way changes the same key.
    if (name.startsWith('Mutation.revokeApiKey')) await restoreKey();
    return { text, ...JSON.parse(text) };
  }
  await trigger(name);
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const [, event] = /^data: ?(\{.*\})$/m.exec(text) ?? [];
    if (event) return { text, ...JSON.parse(event) };
  }
  return { text };
};

/** The objects that a field leads to, through the pages of a list. */
const targetsOf = (objects: Data[], field: string): Data[] => {
  const step = (from: Data[], name: string) =>
    from.flatMap((object) => [object[name] ?? []].flat());
  const found = step(objects, field);
  return found.some((one) => 'edges' in one) ? step(step(found, 'edges'), 'node') : found;
};

/** What came of a way: its end was read, or was refused, or there was nothing on the way; or the way is too wide for anyone. */
const outcomeOf = ({ data, errors }: Answer, { name, closed }: Path) => {
  if (errors?.some(({ extensions }) => extensions.code === 'INSUFFICIENT_SCOPE')) return 'refused';
  if (errors?.some(({ message }) => message.includes('Ask for smaller pages'))) return 'too wide';
  let found: Data[] = data ? [data] : [];
  for (const step of name.split(' ')) {
    if (step === '*' || step === closed) break;
    found = targetsOf(found, step.split('.')[1] ?? '');
  }
  return found.length > 0 ? 'read' : 'nothing there';
};

const has = (scopes: KeyScope[], wanted: KeyScope | undefined) =>
  wanted === undefined || scopes.includes(wanted);

/** The ways of a key with some scopes, by the tables. */
const pathsOf = (scopes: KeyScope[]): Path[] => {
  const mayAsk = (root: string, node?: string) => {
    const wanted = TABLE[root]?.scopes;
    if (wanted && !wanted.some((scope) => scopes.includes(scope))) return false;
    // It asks for a key that may read runs.
    if (root === 'Mutation.createApiKey' && !scopes.includes('RUNS')) return false;
    return has(scopes, node === undefined ? undefined : GUARDED_NODES[node]);
  };
  const mayRead: MayRead = (field, { isOwnRun }) =>
    has(scopes, GUARDED[field]) || (isOwnRun && field.startsWith('Run.'));
  return [...pathsFrom(ids, nodes, mayAsk, mayRead)];
};

/** What these make or change is new, or of others: there is nothing of it to read. */
const isOfNew = (name: string) =>
  /^Query\.accounts |^Mutation\.(createAccount|suspendAccount|createBot|(create|rotate)ApiKey .*\.createdKeys|(deploy|promote) .*\.rolledBackTo) /.test(
    name,
  );

/** What a credential meets that the tables do not say. */
const mistakesOf = async (secret: string, paths: Path[]) => {
  const mistakes: string[] = [];
  for (const path of paths) {
    const answer = await ask(secret, path);
    const outcome = outcomeOf(answer, path);
    const isRight = outcome === (path.closed ? 'refused' : 'read');
    const isNothing = outcome === 'nothing there' && isOfNew(path.name);
    if (!isRight && !isNothing && outcome !== 'too wide')
      mistakes.push(`${path.name}: ${outcome}: ${answer.text}`);
  }
  return mistakes;
};

/** A key that is limited to the bot with data. Another key made it, and it made one, and a run. */
const keyOf = async (scopes: KeyScope[]) => {
  const secret = await tenant.key({ scopes, botIds: [ids.bot] });
  const where = { hash: hashApiKey(secret) };
  const { id } = await app.prisma.apiKey.update({ where, data: { createdById: maker } });
  await addKey(ids.bot, id);
  await app.prisma.run.update({ where: { id: ids.run }, data: { keyId: id } });
  return secret;
};

describe('who may read what', () => {
  test('is decided for every field of every object', () => {
    const decided = [...OPEN_FIELDS, ...Object.keys(GUARDED)];
    const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) &&
      !/^__|^(Query|Mutation|Subscription)$|(Connection|Edge)$/.test(type.name) &&
      !PARTS.includes(type.name)
        ? Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)
        : [],
    );
    expect(decided.toSorted()).toEqual(fields.toSorted());
  });

  test('leads on every way to something that can be read, for a key with all scopes', async () => {
    const scopes = Object.values(KeyScope);
    const paths = pathsOf(scopes);
    expect(paths.filter(({ closed }) => closed)).toEqual([]);
    expect(await mistakesOf(await keyOf(scopes), paths)).toEqual([]);
  });

  test.each(Object.values(KeyScope).map((scope) => [scope]))(
    'holds on every way for a key with the scope %s alone',
    async (scope) => {
      const paths = pathsOf([scope]);
      expect(paths.filter(({ closed }) => closed).length).toBeGreaterThan(0);
      expect(await mistakesOf(await keyOf([scope]), paths)).toEqual([]);
    },
  );

  test('holds on every way for a session token', async () => {
    const paths = [
      ...pathsFrom(
        ids,
        nodes,
        (root) => TOKEN_FIELDS.includes(root),
        (field) => TOKEN_FIELDS.includes(field),
      ),
    ];
    expect(paths.filter(({ closed }) => closed).length).toBeGreaterThan(0);
    expect(await mistakesOf(token, paths)).toEqual([]);
  });

  test.each([
    [
      'an operator of another account',
      async () => (await app.tenant()).key({ scopes: Object.values(KeyScope) }),
    ],
    [
      'a key that is limited to another bot',
      async () => tenant.key({ scopes: OWNER_SCOPES, botIds: [await tenant.bot()] }),
    ],
  ])('shows nothing of the bot on any way to %s', async (_who, keyOfStranger) => {
    const secret = await keyOfStranger();
    const leaks: string[] = [];
    for (const path of pathsFrom(
      ids,
      nodes,
      (root) => !/Changed$/.test(root),
      () => true,
    )) {
      const { text } = await ask(secret, path);
      if (text.includes(CANARY)) leaks.push(`${path.name}: ${text}`);
    }
    expect(leaks).toEqual([]);
  });
});
