import { beforeAll, describe, expect, test } from 'vitest';
import { restRoutes } from '../../src/transport/rest/routes.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import {
  type Answer,
  type Bound,
  type Field,
  fieldsOf,
  MIB,
  nested,
  ofBytes,
  upTo,
  withoutBound,
  x,
} from '../helpers/bounds.ts';
import { makeEvaluation } from '../helpers/evaluations.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  // An answer for every `output_schema`.
  app.upstream.script(({ say, end }) => {
    say('{}');
    end();
  });
});

/** Every parameter and body field of a request in the reference. */
const FIELDS = fieldsOf(restRoutes);

const variables = (count: number, value = '') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`A${index}`, value]));

const message = (field: string): Bound[] => [
  { words: 'at least 1 character', within: 'x', beyond: '' },
  {
    words: 'Only the size of the body limits it',
    within: x(MIB - JSON.stringify({ [field]: '' }).length),
    beyond: x(MIB - JSON.stringify({ [field]: '' }).length + 1),
    refusal: ({ error }) => error?.code,
  },
];
const levels: Bound = {
  words: 'nested at most 32 levels deep',
  within: nested(32),
  beyond: nested(33),
};
const sessionId = upTo('1 to 256 visible characters', 256);
const key = upTo('1 to 255 visible ASCII characters', 255);
const note = [upTo('at most 1,000 characters', 1_000)];

/** The bounds of each field, by its place and name, and by its operation where that matters. */
const BOUNDS: Record<string, Bound[]> = {
  'header X-Session-ID': [sessionId],
  'header Idempotency-Key': [key],
  'query idempotency_key': [key],
  'query session_id': [sessionId],
  'query user': [sessionId],
  'query limit': [
    { words: '1 to 100', within: 100, beyond: 101 },
    { words: '1 to 100', within: 1, beyond: 0 },
  ],
  'query message': [
    { words: 'at least 1 character', within: 'x', beyond: '' },
    {
      words: 'The URL and the headers hold at most 16 KiB together',
      within: x(15 * 1024),
      beyond: x(16 * 1024),
      refusal: ({ error }) => error?.message,
    },
  ],
  'body message': message('message'),
  'body prompt': message('prompt'),
  'body context': [levels],
  'body metadata': [
    levels,
    { words: 'at most 64 KiB', within: ofBytes(65_536), beyond: ofBytes(65_537) },
  ],
  'body history': [
    {
      words: 'at most 500',
      within: Array.from({ length: 500 }, () => ({ role: 'user', content: 'Hi' })),
      beyond: Array.from({ length: 501 }, () => ({ role: 'user', content: 'Hi' })),
    },
  ],
  'body output_schema': [
    {
      ...levels,
      within: nested(32, { type: 'object' }),
      beyond: nested(33, { type: 'object' }),
    },
    {
      words: 'at most 16 KiB',
      within: ofBytes(16_384, { type: 'object' }),
      beyond: ofBytes(16_385, { type: 'object' }),
    },
  ],
  'deploy query message': note,
  'deploy body message': note,
  'rollback body message': note,
  'body agentlang': [
    {
      words: 'more than 256 KiB fails',
      within: `${agent()}#${x(262_144 - agent().length - 1)}`,
      beyond: `${agent()}#${x(262_144 - agent().length)}`,
      refusal: (answer) => answer.parse_errors?.[0] ?? answer.error?.message,
    },
  ],
  'body env_vars': [
    { words: 'at most 200 variables', within: variables(200), beyond: variables(201) },
    {
      words: 'A name has at most 128 letters',
      within: { [x(128)]: '' },
      beyond: { [x(129)]: '' },
      path: `env_vars.${x(129)}`,
    },
    {
      words: 'at most 32 KiB each',
      within: { A: x(32_768) },
      beyond: { A: x(32_769) },
      path: 'env_vars.A',
    },
    {
      words: '64 KiB in total',
      within: variables(2, x(32_768)),
      beyond: { ...variables(2, x(32_768)), B: 'x' },
    },
  ],
};

/** Fields with a required form instead of a size, as their descriptions state it. */
const FORMS: Record<string, string> = {
  'path id': '1 to 64 letters, digits, `_` or `-`',
  'path run_id': 'Opaque',
  'path deployment_id': 'Opaque',
  'path approval_id': 'Opaque',
  'path evaluation_id': 'Opaque',
  'body deployment_id': 'Opaque',
  'body repeat': '1 to 10',
  'body replay': '1 to 500 runs',
  'body model': 'at most 128 characters',
  'body judge_model': 'at most 128 characters',
  'body note': 'at most 2,000 characters',
  'body arguments': 'at most 64 KiB',
  'query cursor': 'opaque',
  'query from': 'ISO 8601',
  'query to': 'ISO 8601',
  'query after': 'A number above 2147483647 counts as that one',
  'header Last-Event-ID': 'A number above 2147483647 counts as that one',
  'header traceparent': 'A malformed value is ignored',
  'header X-Request-Id': '1 to 128 visible ASCII characters; any other is replaced',
};

const boundsOf = ({ operation, place, name }: Field) =>
  BOUNDS[`${operation.operationId} ${place} ${name}`] ?? BOUNDS[`${place} ${name}`] ?? [];

/** The other required fields of each request. */
const BASE: Record<string, { body?: object; query?: object }> = {
  chat: { body: { message: 'Hi' } },
  streamChat: { body: { message: 'Hi' } },
  streamChatByQuery: { query: { message: 'Hi' } },
  execute: { body: { prompt: 'Hi' } },
  deploy: { body: { agentlang: agent() } },
  startEvaluation: { body: { agentlang: agent() } },
  rollback: { body: {} },
};

/** Sends a request with a value of one field to a new bot. */
async function send({ operation, place, name }: Field, value: unknown) {
  const { body, query } = BASE[operation.operationId] ?? {};
  const given = { [name]: value };
  const bot = await tenant.bot();
  let path = operation.path.replace('{id}', bot);
  if (path.includes('{deployment_id}')) {
    const { id } = await app.prisma.deployment.findFirstOrThrow({ where: { botId: bot } });
    path = path.replace('{deployment_id}', id);
  }
  if (path.includes('{evaluation_id}'))
    path = path.replace('{evaluation_id}', await makeEvaluation(app, bot));
  const parameters = new URLSearchParams({
    ...query,
    ...(place === 'query' && { [name]: String(value) }),
  });
  const answer = await fetch(`${app.url}${path}?${parameters}`, {
    method: operation.method,
    headers: {
      ...tenant.headers,
      ...(body && { 'content-type': 'application/json' }),
      ...(place === 'header' && { [name]: String(value) }),
    },
    body: body && JSON.stringify({ ...body, ...(place === 'body' && given) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json');
  return { status: answer.status, body: (isJson ? JSON.parse(text) : {}) as Answer };
}

const REFUSAL = /^request_too_large$|^The headers are too large\.$|\[source-too-large\]$/;

describe('the reference states the bound of every field', () => {
  test('a size or a form', () => {
    const wordsOf = (field: Field) => {
      const form = FORMS[`${field.place} ${field.name}`];
      return form ? [form] : boundsOf(field).map((bound) => bound.words);
    };
    expect(withoutBound(FIELDS, wordsOf)).toEqual([]);
    expect(FIELDS.length).toBeGreaterThan(60);
  });

  const rows = FIELDS.flatMap((field) =>
    boundsOf(field).map((bound) => ({
      field,
      bound,
      what: `${field.operation.operationId} ${field.place} ${field.name}: ${bound.words}`,
    })),
  );
  test.each(rows)('and the server holds it exactly: $what', async ({ field, bound }) => {
    const { within, beyond, path = field.name.toLowerCase(), refusal } = bound;
    const accepted = await send(field, within);
    expect([accepted.status, accepted.body.parse_errors ?? []]).toEqual([200, []]);
    const { body } = await send(field, beyond);
    if (refusal) expect(refusal(body)).toMatch(REFUSAL);
    else expect(body.error?.details?.map((problem) => problem.path)).toEqual([path]);
  });

  test('and the server answers 404 to IDs of other forms, or replaces or ignores them', async () => {
    const read = (id: string, headers = {}) =>
      fetch(`${app.url}/v1/bots/${id}/runs`, { headers: { ...tenant.headers, ...headers } });
    const longest = `bot-${crypto.randomUUID()}`.padEnd(64, '_');
    const created = await tenant.graphql(
      'mutation ($id: ID!) { createBot(input: { id: $id, name: "A" }) { id } }',
      { id: longest },
    );
    expect(created.data).toEqual({ createBot: { id: longest } });
    expect((await read(longest)).status).toBe(200);
    expect((await read(`${longest}_`)).status).toBe(404);
    const bot = await tenant.bot();
    const idOf = async (id: string) =>
      (await read(bot, { 'x-request-id': id })).headers.get('x-request-id');
    expect(await idOf(x(128))).toBe(x(128));
    expect(await idOf(x(129))).toMatch(/^req_/);
    const traced = await tenant.chat(bot, { message: 'Hi' }, { traceparent: x(1_000) });
    expect(traced.status).toBe(200);
  });
});
