import { getNamedType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { OWNER_SCOPES } from '../../src/accounts/accounts.ts';
import { hashApiKey, makeApiKey } from '../../src/accounts/key-format.ts';
import { newApiKey } from '../../src/accounts/new-key.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { schema } from '../../src/schema/index.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeApproval } from '../helpers/approvals.ts';
import { makeEvaluation } from '../helpers/evaluations.ts';
import { rounds } from '../helpers/rounds.ts';
import { makeRuns } from '../helpers/runs.ts';
import {
  GUARDED,
  GUARDED_NODES,
  OPEN_FIELDS,
  PARTS,
  TOKEN_FIELDS,
} from './authorisation/fields.ts';
import { type MayRead, type Path, pathsFrom } from './authorisation/paths.ts';
import { type Ids, TABLE } from './authorisation/table.ts';

/** The maximum number of objects on a path. */
const DEPTH = rounds(2, 4);

/** The types whose fields are decided one by one. */
const OBJECTS = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter(
    ({ name }) =>
      !/^__|^(Query|Mutation|Subscription)$|(Connection|Edge)$/.test(name) && !PARTS.includes(name),
  );
/** The fields that lead from one of these types to another. */
const EDGES = OBJECTS.flatMap((type) =>
  Object.values(type.getFields()).flatMap(({ name, type: of }) => {
    const target = getNamedType(of);
    const isPart = !isObjectType(target) || PARTS.includes(target.name);
    return isPart ? [] : [`${type.name}.${name}`];
  }),
);

/** Text in all data of the account's bots. */
const CANARY = 'canary-4711';

let app: TestApp;
let tenant: Tenant;
let ids: Ids;
let nodes: Record<string, string>;
let token: string;
/** The deployment that the active one rolled back to. */
let first: string;
/** The key that created the others. */
let maker: string;

/** Adds a key that every key with the scope ADMIN covers. @returns its id. */
const addKey = async (bot: string, createdById: string | null) => {
  const grant = { name: 'Limited', scopes: [KeyScope.ADMIN], botIds: [bot] };
  const row = newApiKey(tenant.accountId, makeApiKey(), grant);
  return (await app.prisma.apiKey.create({ data: { ...row, createdById } })).id;
};

beforeAll(async () => {
  app = await startApp({
    checkServer: async () => [{ name: 'Node.js', status: 'ok', message: 'It runs the server' }],
  });
  app.upstream.script(({ say, end }) => {
    say(`The ${CANARY} sings.`);
    end();
  });
  tenant = await app.tenant();
  const bot = await tenant.bot();
  const source = agent(`prompt "${CANARY}" channel web {}`);
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
  await app.prisma.run.update({
    where: { id: data.chat.runId },
    data: { errorCode: 'model_error', errorMessage: CANARY, errorDetail: CANARY },
  });
  await makeRuns(app, bot, [
    { status: 'RUNNING', sessionId: 'user-1', input: CANARY, deploymentId: data.rollback.id },
  ]);
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
    evaluation: await makeEvaluation(app, bot),
    approval: await makeApproval(app, bot, data.chat.runId, data.rollback.id),
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

/** Causes the event that a subscription waits for. */
const trigger = async (name: string) => {
  if (name.startsWith('Subscription.approvalChanged')) {
    const open = { status: 'WAITING' as const, decidedAt: null, settledAt: null };
    await app.prisma.approval.update({ where: { id: ids.approval }, data: open });
    await tenant.graphql(
      `mutation { decideApproval(id: "${ids.approval}", decision: DENY) { id } }`,
    );
  } else if (name.startsWith('Subscription.evaluationChanged')) {
    await tenant.graphql(`mutation { cancelEvaluation(id: "${ids.evaluation}") { id } }`);
  } else if (/^Subscription\.(run|session)Changed/.test(name)) {
    await tenant.chat(ids.bot, { message: CANARY }, { 'x-session-id': 'user-1' });
  } else await rollBack();
};

/** The response to a path's document; for a subscription, its first event. */
const execute = async (secret: string, { name, document }: Path): Promise<Answer> => {
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
    // The active deployment must be a rollback again.
    if (name.startsWith('Mutation.promote')) await rollBack();
    // The next path changes the same key.
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

/** The objects that a field leads to, through the edges of a list. */
const targetsOf = (objects: Data[], field: string): Data[] => {
  const step = (from: Data[], name: string) =>
    from.flatMap((object) => [object[name] ?? []].flat());
  const found = step(objects, field);
  return found.some((one) => 'edges' in one) ? step(step(found, 'edges'), 'node') : found;
};

/** The messages of the limits of an answer and of an event, which a long path with all fields may exceed. */
const TOO_LARGE =
  /^(Each event|The operation asks for up to \d+ bytes|The texts and lists of the response)/;

/** The outcome of a path: its end was read or refused, or had no data, or the path was too large. */
const outcomeOf = ({ data, errors }: Answer, { name, closed }: Path) => {
  if (errors?.some(({ extensions }) => extensions.code === 'INSUFFICIENT_SCOPE')) return 'refused';
  if (errors?.some(({ message }) => TOO_LARGE.test(message))) return 'too large';
  let found: Data[] = data ? [data] : [];
  for (const step of name.split(' ')) {
    if (step === '*' || step === closed) break;
    found = targetsOf(found, step.split('.')[1] ?? '');
  }
  return found.length > 0 ? 'read' : 'no data';
};

/** The fields of a run that also the response of the operation that started it guards. */
const ALWAYS_GUARDED = ['Run.prompt', 'Run.toolCalls', 'Run.failedToolCalls'];

const has = (scopes: KeyScope[], wanted: KeyScope | KeyScope[] = scopes) =>
  [wanted].flat().some((one) => scopes.includes(one));

/** The paths of a key with these scopes, according to the tables. */
const pathsOf = (scopes: KeyScope[]): Path[] => {
  const mayCall = (root: string, node?: string) => {
    const wanted = TABLE[root]?.scopes;
    if (wanted && !wanted.some((scope) => scopes.includes(scope))) return false;
    // It creates a key with the scope RUNS.
    if (root === 'Mutation.createApiKey' && !scopes.includes('RUNS')) return false;
    return has(scopes, node === undefined ? undefined : GUARDED_NODES[node]);
  };
  const mayRead: MayRead = (field, { isOwnRun }) =>
    has(scopes, GUARDED[field]) ||
    (isOwnRun && field.startsWith('Run.') && !ALWAYS_GUARDED.includes(field));
  return [...pathsFrom(ids, nodes, mayCall, mayRead, DEPTH)];
};

/**
 * Paths through objects that the mutation has just created, or of other accounts, have no data to read. Only one run has
 * feedback and an error, the first deployment replaced none, and the last sessions of a page may have no memory and no
 * active run.
 */
const isWithoutData = (name: string) =>
  /^(?!Query\.run (?!.*activeRun)).* Run\.(feedback|error|failure) | Deployment\.previous | Bot\.sessions Session\.(memory|activeRun) |^Query\.accounts |^Mutation\.(createAccount|suspendAccount|createBot|(create|rotate)ApiKey .*\.createdKeys|(deploy|promote) .*\.rolledBackTo) /.test(
    name,
  );

/** The outcomes of a credential that differ from the tables. */
const mistakesOf = async (secret: string, paths: Path[]) => {
  const mistakes: string[] = [];
  for (const path of paths) {
    const answer = await execute(secret, path);
    const outcome = outcomeOf(answer, path);
    const isRight = outcome === (path.closed ? 'refused' : 'read');
    const isNothing = outcome === 'no data' && isWithoutData(path.name);
    if (!isRight && !isNothing && outcome !== 'too large')
      mistakes.push(`${path.name}: ${outcome}: ${answer.text}`);
  }
  return mistakes;
};

/** A key that is restricted to the bot with data. It was created by a key, has created a key, and has a run. */
const keyOf = async (scopes: KeyScope[]) => {
  const secret = await tenant.key({ scopes, botIds: [ids.bot] });
  const where = { hash: hashApiKey(secret) };
  const { id } = await app.prisma.apiKey.update({ where, data: { createdById: maker } });
  await addKey(ids.bot, id);
  await app.prisma.run.update({ where: { id: ids.run }, data: { keyId: id } });
  return secret;
};

describe('field authorisation', () => {
  test('is decided for every field of every object', () => {
    const decided = [...OPEN_FIELDS, ...Object.keys(GUARDED)];
    const fields = OBJECTS.flatMap((type) =>
      Object.keys(type.getFields()).map((field) => `${type.name}.${field}`),
    );
    expect(decided.toSorted()).toEqual(fields.toSorted());
  });

  test('lets a key with all scopes read data on every path', async () => {
    const scopes = Object.values(KeyScope);
    const paths = pathsOf(scopes);
    expect(paths.filter(({ closed }) => closed)).toEqual([]);
    const steps = new Set(paths.flatMap(({ name }) => name.split(' ')));
    expect(EDGES.filter((edge) => !steps.has(edge))).toEqual([]);
    expect(await mistakesOf(await keyOf(scopes), paths)).toEqual([]);
  });

  test.each(Object.values(KeyScope).map((scope) => [scope]))(
    'holds on every path for a key with only the scope %s',
    async (scope) => {
      const paths = pathsOf([scope]);
      expect(paths.filter(({ closed }) => closed).length).toBeGreaterThan(0);
      expect(await mistakesOf(await keyOf([scope]), paths)).toEqual([]);
    },
  );

  test('holds on every path for a session token', async () => {
    const paths = [
      ...pathsFrom(
        ids,
        nodes,
        (root) => TOKEN_FIELDS.includes(root),
        (field) => TOKEN_FIELDS.includes(field),
        DEPTH,
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
      'a key that is restricted to another bot',
      async () => tenant.key({ scopes: OWNER_SCOPES, botIds: [await tenant.bot()] }),
    ],
  ])('reveals nothing of the bot on any path to %s', async (_which, makeKey) => {
    const secret = await makeKey();
    const leaks: string[] = [];
    for (const path of pathsFrom(
      ids,
      nodes,
      (root) => !/Changed$/.test(root),
      () => true,
      DEPTH,
    )) {
      const { text } = await execute(secret, path);
      if (text.includes(CANARY)) leaks.push(`${path.name}: ${text}`);
    }
    expect(leaks).toEqual([]);
  });
});
