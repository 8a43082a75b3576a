import { beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { routes } from '../../src/transport/routes.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { type Contract, readContract } from '../helpers/contract.ts';
import { readError } from '../helpers/documented.ts';
import { access } from './bad-requests/access.ts';
import { bodies } from './bad-requests/bodies.ts';
import { parameters } from './bad-requests/parameters.ts';
import { type BadRequest, OPERATIONS } from './bad-requests/row.ts';

let app: TestApp;
let contract: Contract;
const ids: Record<string, string> = {};
const keys: Record<string, string> = {};

beforeAll(async () => {
  app = await startApp({ trustProxy: ['127.0.0.1'] });
  contract = await readContract(app.url);
  const tenant = await app.tenant();
  ids.bot = await tenant.bot();
  ids.undeployed = await tenant.bot(null);
  ids.foreign = await (await app.tenant()).bot();
  keys.good = tenant.apiKey;
  keys.restricted = await tenant.key({ botIds: [ids.undeployed] });
  keys.none = await tenant.key({ botIds: [] });
  keys.reader = await tenant.key({ scopes: ['RUNS', 'ADMIN', 'DEPLOY'] });
  keys.talker = await tenant.key({ scopes: ['CHAT'] });
  keys.deployer = await tenant.key({ scopes: ['DEPLOY'] });
  keys.expired = await tenant.key({ expiresAt: new Date(0) });
  keys.revoked = await tenant.key({ revokedAt: new Date() });
  keys.unknown = makeApiKey();
  keys.mistyped = tenant.apiKey.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x'));
});

/** The method and path of a row's request. */
function targetOf({ operation, method, path = '/', bot = '{bot}', id = 'x_none' }: BadRequest) {
  const route = routes.find((one) => one.id === operation);
  if (!route) return { method: method ?? 'GET', path };
  const own = route.path.replace(':id', bot).replace(/:\w+/, id);
  return { method: method ?? route.method, path: `/v1${own}` };
}

let clients = 0;

async function send(row: BadRequest): Promise<Response> {
  const { method, path } = targetOf(row);
  const { key = 'good', query, headers, body } = row;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '');
  const authorization = key && (key in keys ? `Bearer ${keys[key]}` : key);
  clients += 1;
  return fetch(`${app.url}${filled}${query ? `?${query}` : ''}`, {
    method,
    headers: {
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(authorization && { authorization }),
      'x-forwarded-for': `2001:db8:${clients.toString(16)}::1`,
      ...headers,
    },
    body: ['GET', 'HEAD'].includes(method) ? undefined : filledIn(body),
  });
}

/** The body with the ids of the test. */
function filledIn(body: BadRequest['body']): BadRequest['body'] {
  if (typeof body !== 'string') return body;
  return body.replaceAll(/\{(\w+)\}/g, (all, name: string) => ids[name] ?? all);
}

const rows = [...access, ...bodies, ...parameters].map((row) => ({
  ...row,
  name: [row.operation, row.what].filter(Boolean).join(', '),
}));

describe('a bad request gets a documented error', () => {
  test('in more than 150 cases, on every route', () => {
    expect(rows.length).toBeGreaterThan(150);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    const tested = new Set(rows.flatMap(({ operation }) => operation ?? []));
    expect([...tested].toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(routes.map(({ id }) => id).toSorted());
  });

  test.each(rows)('$name: $code', async (row) => {
    const response = await send(row);
    const { status, headers } = response;
    if (row.method === 'HEAD') {
      expect([status, await response.text()]).toEqual([404, '']);
      expect(Number(headers.get('content-length'))).toBeGreaterThan(0);
      return;
    }
    if (row.operation && row.method === undefined) {
      await contract.hold(row.operation, response.clone());
    }
    const isLimited = targetOf(row).path.startsWith('/v1');
    const { code, details } = readError(
      { status, headers, body: await response.text() },
      isLimited,
    );
    const paths = details && [...new Set(details.map(({ path }) => path))];
    expect({ code, details: paths }).toEqual({
      code: row.code,
      details: row.details,
    });
  });
});
