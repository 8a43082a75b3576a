import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { OWNER_SCOPES } from '../../src/accounts/accounts.ts';
import { KeyScope } from '../../src/generated/prisma/client.ts';
import { schema } from '../../src/schema/index.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

/** What the operations speak of: all of one account. */
type Ids = { account: string; bot: string; run: string; key: string; deployment: string };

/** What comes of an operation: data, nothing at all in its place, or an error's code. */
type Outcome = 'OK' | 'NULL' | string;

type Row = {
  /** The field with its arguments and what is asked of it. */
  ask: (ids: Ids) => string;
  /** The scopes of which any will do; none: any key may ask. */
  scopes?: KeyScope[];
  /** For the key of another account, with every scope but OPERATOR. */
  other: Outcome;
  /** For a key of the account that is limited to another bot, with the same scopes. */
  restricted: Outcome;
  /** For a session token of the bot: refused unless it says otherwise. */
  token?: Outcome;
  /** The same over REST: method, path and body. */
  rest?: (ids: Ids) => [method: string, path: string, body?: object];
};

const DENIED = { other: 'BOT_ACCESS_DENIED', restricted: 'BOT_ACCESS_DENIED' };
const HIDDEN = { other: 'RUN_NOT_FOUND', restricted: 'RUN_NOT_FOUND' };
const OPEN = { other: 'OK', restricted: 'OK' };
const OPERATOR = { other: 'INSUFFICIENT_SCOPE', restricted: 'INSUFFICIENT_SCOPE' };

/** Every root field of the schema. */
const TABLE: Record<string, Row> = {
  'Query.viewer': { ask: () => 'viewer { account { id } }', ...OPEN },
  'Query.node': {
    ask: ({ bot }) => `node(id: "${bot}") { id }`,
    other: 'NULL',
    restricted: 'NULL',
  },
  'Query.nodes': {
    ask: ({ bot }) => `nodes(ids: ["${bot}"]) { id }`,
    other: 'NULL',
    restricted: 'NULL',
  },
  'Query.bot': { ask: ({ bot }) => `bot(id: "${bot}") { id }`, ...DENIED },
  'Query.bots': { ask: () => 'bots { edges { cursor } }', ...OPEN },
  'Query.run': {
    ask: ({ run }) => `run(id: "${run}") { id }`,
    scopes: ['RUNS'],
    ...HIDDEN,
  },
  'Query.runs': {
    ask: ({ bot }) => `runs(botId: "${bot}") { edges { cursor } }`,
    scopes: ['RUNS'],
    ...DENIED,
    rest: ({ bot }) => ['GET', `/v1/bots/${bot}/runs`],
  },
  'Query.checkDefinition': { ask: () => 'checkDefinition(source: "") { valid }', ...OPEN },
  'Mutation.createAccount': {
    ask: () => 'createAccount(input: { name: "A", plan: FREE }) { secret }',
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.updateAccount': {
    ask: ({ account }) => `updateAccount(id: "${account}", input: {}) { id }`,
    scopes: ['OPERATOR'],
    ...OPERATOR,
  },
  'Mutation.createSessionToken': {
    ask: ({ bot }) => `createSessionToken(input: { botId: "${bot}", sessionId: "u" }) { token }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.createBot': {
    ask: () => 'createBot(input: { name: "B" }) { id }',
    scopes: ['ADMIN'],
    other: 'OK',
    restricted: 'BOT_ACCESS_DENIED',
  },
  'Mutation.deleteBot': {
    ask: ({ bot }) => `deleteBot(id: "${bot}")`,
    scopes: ['ADMIN'],
    ...DENIED,
  },
  'Mutation.createApiKey': {
    ask: () => 'createApiKey(input: { name: "K", scopes: [RUNS] }) { secret }',
    scopes: ['ADMIN'],
    ...OPEN,
  },
  'Mutation.revokeApiKey': {
    ask: ({ key }) => `revokeApiKey(id: "${key}") { id }`,
    scopes: ['ADMIN'],
    other: 'NOT_FOUND',
    restricted: 'NOT_FOUND',
  },
  'Mutation.deploy': {
    ask: ({ bot }) => `deploy(botId: "${bot}", input: { source: "" }) { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: ({ bot }) => ['POST', `/v1/bots/${bot}/deploy`, { agentlang: '' }],
  },
  'Mutation.rollback': {
    ask: ({ bot, deployment }) => `rollback(botId: "${bot}", deploymentId: "${deployment}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
    rest: ({ bot, deployment }) => ['POST', `/v1/bots/${bot}/deployments/${deployment}/rollback`],
  },
  'Mutation.promote': {
    ask: ({ bot, deployment }) => `promote(botId: "${bot}", deploymentId: "${deployment}") { id }`,
    scopes: ['DEPLOY'],
    ...DENIED,
  },
  'Mutation.chat': {
    ask: ({ bot }) => `chat(botId: "${bot}", input: { message: "Hi" }) { response }`,
    scopes: ['CHAT'],
    ...DENIED,
    token: 'OK',
    rest: ({ bot }) => ['POST', `/v1/bots/${bot}/chat`, { message: 'Hi' }],
  },
  'Mutation.execute': {
    ask: ({ bot }) => `execute(botId: "${bot}", input: { prompt: "Hi" }) { id }`,
    scopes: ['CHAT'],
    ...DENIED,
    rest: ({ bot }) => ['POST', `/v1/bots/${bot}/execute`, { prompt: 'Hi' }],
  },
  'Mutation.cancelRun': {
    ask: ({ run }) => `cancelRun(id: "${run}") { id }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    token: 'OK',
  },
  'Mutation.setMemory': {
    ask: ({ bot }) => `setMemory(botId: "${bot}", sessionId: "u", name: "a", value: "b") { id }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Mutation.forgetSession': {
    ask: ({ bot }) => `forgetSession(botId: "${bot}", sessionId: "u")`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Subscription.chat': {
    ask: ({ bot }) => `chat(botId: "${bot}", input: { message: "Hi" }) { __typename }`,
    scopes: ['CHAT'],
    ...DENIED,
    token: 'OK',
    rest: ({ bot }) => ['GET', `/v1/bots/${bot}/chat/stream?session_id=u&message=Hi`],
  },
  'Subscription.execute': {
    ask: ({ bot }) => `execute(botId: "${bot}", input: { prompt: "Hi" }) { __typename }`,
    scopes: ['CHAT'],
    ...DENIED,
  },
  'Subscription.runEvents': {
    ask: ({ run }) => `runEvents(runId: "${run}") { __typename }`,
    scopes: ['CHAT', 'RUNS'],
    ...HIDDEN,
    token: 'OK',
  },
  'Subscription.runChanged': {
    ask: ({ bot }) => `runChanged(botId: "${bot}") { id }`,
    scopes: ['RUNS'],
    ...DENIED,
  },
  'Subscription.deploymentChanged': {
    ask: ({ bot }) => `deploymentChanged(botId: "${bot}") { id }`,
    ...DENIED,
  },
};

const fields = [
  schema.getQueryType(),
  schema.getMutationType(),
  schema.getSubscriptionType(),
].flatMap((type) => Object.keys(type?.getFields() ?? {}).map((name) => `${type?.name}.${name}`));

/** One that a caller who may ask would wait for, until something happens. */
const isQuiet = (field: string) => field.endsWith('Changed');

let app: TestApp;
let tenant: Tenant;
let ids: Ids;
let credentials: Record<'other' | 'restricted' | 'revoked' | 'expired' | 'token', string>;

const makeIds = async (): Promise<Ids> => {
  const bot = await tenant.bot();
  const answer = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'user-1' });
  const run = answer.headers.get('x-run-id') ?? '';
  await answer.text();
  const deployment = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
  const secret = await tenant.key();
  const key = await app.prisma.apiKey.findFirstOrThrow({
    where: { accountId: tenant.accountId, prefix: secret.slice(0, 14) },
  });
  return { account: tenant.accountId, bot, run, key: key.id, deployment: deployment.id };
};

beforeAll(async () => {
  // Each request comes a minute later, so that strangers are not told of their limit.
  let now = Date.now();
  app = await startApp({ clock: () => (now += 60_000) });
  tenant = await app.tenant();
  ids = await makeIds();
  const { data } = await tenant.graphql(
    `mutation { createSessionToken(input: { botId: "${ids.bot}", sessionId: "user-1" }) { token } }`,
  );
  credentials = {
    other: (await app.tenant()).apiKey,
    restricted: await tenant.key({ scopes: OWNER_SCOPES, botIds: [await tenant.bot()] }),
    revoked: await tenant.key({ revokedAt: new Date() }),
    expired: await tenant.key({ expiresAt: new Date(Date.now() - 1_000) }),
    token: data.createSessionToken.token,
  };
});

type Result = {
  data?: Record<string, unknown> | null;
  errors?: readonly { extensions?: unknown }[];
};

const outcomeOf = ({ data, errors }: Result): Outcome => {
  const { code } = { ...(errors?.[0]?.extensions ?? {}) } as { code?: string };
  if (errors) return code ?? 'an error without a code';
  const [value] = Object.values(data ?? {});
  return [value].flat()[0] == null ? 'NULL' : 'OK';
};

const headersOf = (secret: string | undefined): Record<string, string> =>
  secret === undefined ? {} : { Authorization: `Bearer ${secret}` };

/** The first that is told of an operation, by every GraphQL transport. */
const TRANSPORTS: Record<string, (query: string, secret?: string) => Promise<Outcome>> = {
  'GraphQL over HTTP': async (query, secret) => {
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: query.startsWith('subscription') ? 'text/event-stream' : 'application/json',
        ...headersOf(secret),
      },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    const [, event] = /^data: ?(\{.*\})$/m.exec(text) ?? [];
    return outcomeOf(JSON.parse(event ?? text));
  },
  'GraphQL over SSE': async (query, secret) => {
    const client = createEventClient({
      url: `${app.url}/graphql/stream`,
      headers: headersOf(secret),
      retryAttempts: 0,
    });
    for await (const result of client.iterate<Record<string, unknown>>({ query })) {
      return outcomeOf(result);
    }
    return 'silence';
  },
  'GraphQL over WebSocket': async (query, secret) => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      connectionParams: headersOf(secret),
      retryAttempts: 0,
    });
    try {
      for await (const result of client.iterate<Record<string, unknown>>({ query })) {
        return outcomeOf(result);
      }
      return 'silence';
    } catch (refusal) {
      if (Array.isArray(refusal)) return outcomeOf({ errors: refusal });
      const { code } = refusal as { code: number };
      return { 4401: 'MISSING_API_KEY', 4403: 'INVALID_API_KEY' }[code] ?? `closed with ${code}`;
    } finally {
      void client.dispose();
    }
  },
};

const restCode = async ([method, path, body]: [string, string, object?], secret?: string) => {
  const response = await fetch(app.url + path, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...headersOf(secret) },
    body: body && JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error: { code: string } };
  return error.code.toUpperCase();
};

const documentOf = (field: string, { ask }: Row, some = ids) =>
  `${field.split('.', 1)[0]?.toLowerCase()} { ${ask(some)} }`;

/** What each credential is to meet. */
const expectedOf = ({ other, restricted, scopes, token }: Row): Record<string, Outcome> => ({
  none: 'MISSING_API_KEY',
  other,
  restricted,
  ...(scopes && { lacking: 'INSUFFICIENT_SCOPE' }),
  revoked: 'INVALID_API_KEY',
  expired: 'INVALID_API_KEY',
  token: token ?? 'INSUFFICIENT_SCOPE',
});

/** The secrets of all credentials; of a key that lacks the scope, one that has all others. */
const secretsFor = async ({ scopes }: Row): Promise<Record<string, string | undefined>> => ({
  none: undefined,
  ...credentials,
  ...(scopes && {
    lacking: await tenant.key({
      scopes: Object.values(KeyScope).filter((scope) => !scopes.includes(scope)),
    }),
  }),
});

const rows = Object.entries(TABLE).filter(([field]) => fields.includes(field));

describe('who may do what', () => {
  test('is decided for every root field', () => {
    expect(fields.filter((field) => !(field in TABLE))).toEqual([]);
  });

  describe.each(Object.entries(TRANSPORTS))('over %s', (_name, ask) => {
    test.each(rows)('%s', async (field, row) => {
      const outcomes: Record<string, Outcome> = {};
      for (const [credential, secret] of Object.entries(await secretsFor(row))) {
        outcomes[credential] = await ask(documentOf(field, row), secret);
      }
      expect(outcomes).toEqual(expectedOf(row));
    });
  });

  test.each(rows.filter(([, { rest }]) => rest))('%s, over REST', async (_field, row) => {
    if (!row.rest) throw new Error('It has no route.');
    const outcomes: Record<string, Outcome> = {};
    for (const [credential, secret] of Object.entries(await secretsFor(row))) {
      outcomes[credential] = await restCode(row.rest(ids), secret);
    }
    expect(outcomes).toEqual({ ...expectedOf(row), token: 'INVALID_API_KEY' });
  });

  test.each(rows.filter(([field]) => !isQuiet(field)))(
    '%s is open to a key that may',
    async (field, row) => {
      const scopes = row.scopes?.slice(0, 1) ?? [];
      const extra = field === 'Mutation.createApiKey' ? (['RUNS'] as const) : [];
      const owned = await makeIds();
      const whole = field === 'Mutation.revokeApiKey' ? Object.values(KeyScope) : scopes;
      const key = await tenant.key({ scopes: [...whole, ...extra] });
      const outcome = await TRANSPORTS['GraphQL over HTTP']?.(documentOf(field, row, owned), key);
      expect(['OK', 'DEPLOYMENT_NOT_DEPLOYABLE']).toContain(outcome);
    },
  );
});
