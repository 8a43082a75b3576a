import { createClient as createEventClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { OWNER_SCOPES } from '../../src/accounts/accounts.ts';
import { hashApiKey } from '../../src/accounts/key-format.ts';
import { createSessionTokens } from '../../src/accounts/session-tokens.ts';
import { type Environment, KeyScope } from '../../src/generated/prisma/client.ts';
import { schema } from '../../src/schema/index.ts';
import { startApp, TEST_SECRET_KEY, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeApproval, SHOP } from '../helpers/approvals.ts';
import { makeEvaluation } from '../helpers/evaluations.ts';
import { requestOf, rootFieldsOfRoutes } from './authorisation/rest.ts';
import {
  expectedOf,
  expectedOverRest,
  type Ids,
  type Outcome,
  type Row,
  TABLE,
  TOKEN_TABLE,
} from './authorisation/table.ts';

const fields = [
  schema.getQueryType(),
  schema.getMutationType(),
  schema.getSubscriptionType(),
].flatMap((type) => Object.keys(type?.getFields() ?? {}).map((name) => `${type?.name}.${name}`));

/** A subscription that emits nothing until something changes, even for an authorised caller. */
const isQuiet = (field: string) => field.endsWith('Changed');

let app: TestApp;
let tenant: Tenant;
let ids: Ids;
let credentials: Record<'other' | 'restricted' | 'revoked' | 'expired', string>;
let otherBot: string;

let now = Date.now();
/** Only a key with all scopes of another key may change that key. */
const CHANGES_KEYS = /^Mutation\.(update|rotate|revoke)ApiKey$/;

/** Starts a new rate-limit minute for each test, so that requests without a valid key are not limited. */
beforeEach(async () => {
  now += 60_000;
  // `forgetSession` and `deleteTurn` erase the run that other rows read.
  const data = { sessionId: 'user-1', input: 'Hi' };
  await app.prisma.run.update({ where: { id: ids.run }, data });
});

/** Remembers what it makes by its argument. Most of the time of these tests would be for equal keys and look-ups. */
const once = <Made>(make: (name: string) => Promise<Made>) => {
  const made = new Map<string, Promise<Made>>();
  return (name: string) => {
    const known = made.get(name) ?? make(name);
    made.set(name, known);
    return known;
  };
};

const findKey = once((secret) =>
  app.prisma.apiKey.findUniqueOrThrow({
    where: { hash: hashApiKey(secret) },
    include: { account: true },
  }),
);

/** A key with all scopes except these, which are separated by commas. */
const keyWithout = once((scopes) =>
  tenant.key({
    scopes: Object.values(KeyScope).filter((scope) => !scopes.split(',').includes(scope)),
  }),
);

const makeIds = async (): Promise<Ids> => {
  const bot = await tenant.bot(SHOP);
  const answer = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'user-1' });
  const run = answer.headers.get('x-run-id') ?? '';
  await answer.text();
  const deployment = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
  const key = await findKey(await tenant.key());
  const { accountId: otherAccount } = await app.tenant();
  return {
    account: tenant.accountId,
    bot,
    run,
    key: key.id,
    lastingKey: (await findKey(await tenant.key())).id,
    deployment: deployment.id,
    evaluation: await makeEvaluation(app, bot),
    approval: await makeApproval(app, bot, run, deployment.id),
    otherAccount,
  };
};

/** A query changes nothing, so all queries share their ids. An operation of another type has ids of its own. */
const idsToRead = once(makeIds);
const idsFor = (field: string) => (field.startsWith('Query.') ? idsToRead('') : makeIds());

beforeAll(async () => {
  app = await startApp({ clock: () => now });
  tenant = await app.tenant();
  ids = await makeIds();
  otherBot = await tenant.bot(null);
  credentials = {
    other: (await app.tenant()).apiKey,
    restricted: await tenant.key({ scopes: OWNER_SCOPES, botIds: [await tenant.bot()] }),
    revoked: await tenant.key({ revokedAt: new Date() }),
    expired: await tenant.key({ expiresAt: new Date(Date.now() - 1_000) }),
  };
});

/** A token for the session of `ids`, issued by the key. */
const tokenBy = async (
  secret: string,
  {
    bot = ids.bot,
    issuedAt = now,
    sessionId = 'user-1',
    environment = 'PRODUCTION' as Environment,
  } = {},
) => {
  const { account, ...key } = await findKey(secret);
  const tokens = createSessionTokens({
    secretKeys: [TEST_SECRET_KEY],
    keys: { find: async () => ({ account, key }) },
    findVisited: async () => undefined,
    now: () => issuedAt,
  });
  const session = { botId: bot, sessionId, environment };
  return (await tokens.issue({ account, key }, session, 3_600)).token;
};

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

/** Runs an operation over each GraphQL transport. @returns the outcome of its first result. */
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
    return 'no result';
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
      return 'no result';
    } catch (refusal) {
      if (Array.isArray(refusal)) return outcomeOf({ errors: refusal });
      const { code } = refusal as { code: number };
      return { 4401: 'MISSING_API_KEY', 4403: 'INVALID_API_KEY' }[code] ?? `closed with ${code}`;
    } finally {
      void client.dispose();
    }
  },
};

/** The outcome of a request to a route. */
const requestRoute = async (
  { method, path, body }: ReturnType<typeof requestOf>,
  secret?: string,
): Promise<Outcome> => {
  const response = await fetch(app.url + path, {
    method,
    headers: {
      accept: 'text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
      ...headersOf(secret),
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  return response.ok ? 'OK' : JSON.parse(text).error.code.toUpperCase();
};

const documentOf = (field: string, { operation }: Row, some = ids) =>
  `${field.split('.', 1)[0]?.toLowerCase()} { ${operation(some)} }`;

/** The secrets of all credentials, including a key with all scopes except the required ones. */
const secretsFor = async ({ scopes }: Row): Promise<Record<string, string | undefined>> => ({
  none: undefined,
  ...credentials,
  ...(scopes && {
    lacking: await keyWithout(scopes.join()),
  }),
  token: await tokenBy(tenant.apiKey),
  tokenOfAnotherBot: await tokenBy(tenant.apiKey, { bot: otherBot }),
  tokenOfRevokedKey: await tokenBy(credentials.revoked),
  expiredToken: await tokenBy(tenant.apiKey, { issuedAt: Date.now() - 3_600_000 }),
});

/** The outcome of the same request with each credential. */
const outcomesFor = async (
  row: Row,
  execute: (secret?: string) => Promise<Outcome>,
  without: string[] = [],
) => {
  const outcomes: Record<string, Outcome> = {};
  for (const [credential, secret] of Object.entries(await secretsFor(row))) {
    if (!without.includes(credential)) outcomes[credential] = await execute(secret);
  }
  return outcomes;
};

const rows = Object.entries(TABLE);
const routed = rows.flatMap(([field, row]) =>
  Object.entries(row.rest ?? {}).map(([route, sent]) => ({ field, row, route, sent })),
);

/** Any one of a row's scopes is enough. */
const scopesOf = ({ scopes }: Row): KeyScope[][] => scopes?.map((scope) => [scope]) ?? [[]];

describe('authorisation', () => {
  test('is decided for every root field', () => {
    expect(Object.keys(TABLE).toSorted()).toEqual(fields.toSorted());
  });

  test('is decided for every route and each of its root fields', () => {
    const decided = routed.map(({ field, route }) => `${field} by ${route}`);
    expect(decided.toSorted()).toEqual(rootFieldsOfRoutes().toSorted());
  });

  describe.each(Object.entries(TRANSPORTS))('over %s', (_name, execute) => {
    test.each(Object.entries(TOKEN_TABLE))(
      '%s, for session tokens',
      async (_what, { operation: document, expected }) => {
        const tokens = {
          own: await tokenBy(tenant.apiKey),
          ofAnotherSession: await tokenBy(tenant.apiKey, { sessionId: 'user-2' }),
          inStaging: await tokenBy(tenant.apiKey, { environment: 'STAGING' }),
          ofAnotherBot: await tokenBy(tenant.apiKey, { bot: otherBot }),
        };
        const outcomes: Record<string, Outcome> = {};
        for (const [name, token] of Object.entries(tokens))
          outcomes[name] = await execute(document(ids), token);
        expect(outcomes).toEqual(expected);
      },
    );

    test.each(rows)('%s', async (field, row) => {
      // `approvals/session-changed` follows such a subscription with the token of its session.
      const waits = isQuiet(field) && row.forTokens;
      const { token, ...others } = expectedOf(row);
      const outcomes = await outcomesFor(
        row,
        (secret) => execute(documentOf(field, row), secret),
        waits ? ['token'] : [],
      );
      expect(outcomes).toEqual(waits ? others : { ...others, token });
    });
  });

  test.each(routed)('$field, over REST by $route', async ({ row, route, sent }) => {
    const outcomes = await outcomesFor(row, (secret) =>
      requestRoute(requestOf(route, sent, ids), secret),
    );
    expect(outcomes).toEqual(expectedOverRest(row, sent));
  });

  test.each(
    rows
      .filter(([field]) => !isQuiet(field))
      .flatMap(([field, row]) => scopesOf(row).map((scopes) => ({ field, row, scopes }))),
  )('$field is allowed for a key with the scopes $scopes', async ({ field, row, scopes }) => {
    const extra = field === 'Mutation.createApiKey' ? (['RUNS'] as const) : [];
    const owned = await idsFor(field);
    const whole = CHANGES_KEYS.test(field) ? Object.values(KeyScope) : scopes;
    const key = await tenant.key({ scopes: [...whole, ...extra] });
    const outcome = await TRANSPORTS['GraphQL over HTTP']?.(documentOf(field, row, owned), key);
    expect(['OK', 'DEPLOYMENT_NOT_DEPLOYABLE']).toContain(outcome);
  });

  test.each(
    routed.flatMap((one) =>
      scopesOf({ ...one.row, ...one.sent }).map((scopes) => ({ ...one, scopes })),
    ),
  )(
    '$route is allowed for a key with the scopes $scopes',
    async ({ field, route, sent, scopes }) => {
      const key = await tenant.key({ scopes });
      expect(await requestRoute(requestOf(route, sent, await idsFor(field)), key)).toBe('OK');
    },
  );
});
