import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Contract, readContract } from '../helpers/contract.ts';
import { readError } from '../helpers/documented.ts';

let app: TestApp;
let tenant: Tenant;
let contract: Contract;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  contract = await readContract(app.url);
});

const TEXT = { 'content-type': 'text/plain' };
const JSON_TYPE = { 'content-type': 'application/json' };
const BROKEN = 'agentlang 5\nagent "A" {\n  promt "Hi"\n}\n';

type Body = string | Uint8Array<ArrayBuffer>;

/** Deploys, and checks the response against the OpenAPI document. */
async function deploy(
  bot: string,
  body: Body,
  { query = '', headers = TEXT }: { query?: string; headers?: Record<string, string> } = {},
) {
  const answer = await fetch(`${app.url}/v1/bots/${bot}/deploy${query}`, {
    method: 'POST',
    headers: { ...tenant.headers, ...headers },
    body,
  });
  await contract.hold('deploy', answer.clone());
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

const refusalOf = ({ status, headers, text }: Awaited<ReturnType<typeof deploy>>) => {
  const { code, message, details } = readError({ status, headers, body: text });
  return { code, message, paths: details?.map(({ path }) => path) };
};

const stored = (botId: string) =>
  app.prisma.deployment.findMany({ where: { botId }, orderBy: { createdAt: 'desc' } });

describe('a deploy whose body is the source', () => {
  test.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'Text/Plain;charset="UTF-8"',
    'text/plain; charset=us-ascii',
    'application/vnd.parley.agent',
  ])('deploys it to production, as %s', async (type) => {
    const bot = await tenant.bot(null);
    const source = agent('prompt "Grüße, ünïcödé."');
    const { status, body } = await deploy(bot, source, { headers: { 'content-type': type } });
    expect([status, body.status, body.parse_errors]).toEqual([200, 'deployed', []]);
    expect(await stored(bot)).toMatchObject([
      { source, environment: 'PRODUCTION', message: null, envNames: [] },
    ]);
    await tenant.chat(bot, { message: 'Hi' });
    expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toBe('Grüße, ünïcödé.');
  });

  test('reads environment and message from the query, and the environment from the header', async () => {
    const bot = await tenant.bot(null);
    await deploy(bot, agent(), { query: '?environment=staging&message=First%20%26%20last' });
    await deploy(bot, agent(), { headers: { ...TEXT, 'x-environment': 'staging' } });
    expect(await stored(bot)).toMatchObject([
      { environment: 'STAGING', message: null },
      { environment: 'STAGING', message: 'First & last' },
    ]);
  });

  test('keeps the variables of the previous deployment', async () => {
    const bot = await tenant.bot(null);
    const json = JSON.stringify({ agentlang: agent(), env_vars: { KEY: 'secret' } });
    await deploy(bot, json, { headers: JSON_TYPE });
    await deploy(bot, agent());
    expect(await stored(bot)).toMatchObject([{ envNames: ['KEY'] }, { envNames: ['KEY'] }]);
  });

  test('ignores a byte order mark', async () => {
    const bot = await tenant.bot(null);
    const { body } = await deploy(bot, `\ufeff${agent()}`);
    expect(body.status).toBe('deployed');
    expect(await stored(bot)).toMatchObject([{ source: agent() }]);
  });

  test('equals the JSON form under the same idempotency key', async () => {
    const bot = await tenant.bot(null);
    const key = { 'idempotency-key': 'release-7' };
    const first = await deploy(bot, agent(), { headers: { ...TEXT, ...key } });
    const again = await deploy(bot, agent(), { headers: { ...TEXT, ...key } });
    const json = JSON.stringify({ agentlang: agent() });
    const asJson = await deploy(bot, json, { headers: { ...JSON_TYPE, ...key } });
    expect([again.body, asJson.body]).toEqual([first.body, first.body]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await stored(bot)).toHaveLength(1);
    const other = await deploy(bot, agent('prompt "Other."'), { headers: { ...TEXT, ...key } });
    expect(refusalOf(other).code).toBe('idempotency_conflict');
  });

  test('fails with the errors of the source and their positions', async () => {
    const { status, body } = await deploy(await tenant.bot(null), BROKEN);
    expect([status, body.status]).toEqual([200, 'failed']);
    expect(body.parse_errors[0]).toMatch(/^3:3 .*did you mean "prompt"/);
    const large = await deploy(await tenant.bot(null), '#'.repeat(1024 * 1024));
    expect(large.body.parse_errors[0]).toContain('[source-too-large]');
  });

  test.each<[string, Body, string, (string | undefined)[] | undefined]>([
    ['an empty text', '', 'invalid_request', ['agentlang']],
    ['a byte order mark alone', '\ufeff', 'invalid_request', ['agentlang']],
    ['U+0000', `${agent()}\0`, 'invalid_request', ['agentlang']],
    ['what is not UTF-8', new Uint8Array([0x61, 0xff, 0x62]), 'invalid_request', undefined],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x61, 0x00]), 'invalid_request', undefined],
    ['half of a surrogate pair', new Uint8Array([0xed, 0xa0, 0x80]), 'invalid_request', undefined],
    ['more than 1 MiB', '#'.repeat(1024 * 1024 + 1), 'request_too_large', undefined],
    [
      'JSON, whose secrets would become a source',
      ' {"agentlang": "agentlang 5", "env_vars": {"KEY": "secret"}}',
      'invalid_request',
      undefined,
    ],
  ])('refuses %s', async (_what, body, code, paths) => {
    const bot = await tenant.bot(null);
    expect(refusalOf(await deploy(bot, body))).toMatchObject({ code, paths });
    expect(await stored(bot)).toEqual([]);
  });

  test.each([
    'text/plain; charset=iso-8859-1',
    'text/plain; charset=utf-16',
    'text/html',
    'application/x-www-form-urlencoded',
    'application/vnd.parley.agent+json',
  ])('refuses the content type %s', async (type) => {
    const bot = await tenant.bot(null);
    const answer = await deploy(bot, agent(), { headers: { 'content-type': type } });
    expect(refusalOf(answer).code).toBe('invalid_request');
    expect(refusalOf(answer).message).toMatch(/UTF-8|"text\/plain"/);
    expect(await stored(bot)).toEqual([]);
  });

  test('refuses a compressed text', async () => {
    const headers = { ...TEXT, 'content-encoding': 'gzip' };
    const answer = await deploy(await tenant.bot(null), agent(), { headers });
    expect(refusalOf(answer).message).toContain('Content-Encoding');
  });

  test('is refused by other routes', async () => {
    const bot = await tenant.bot();
    for (const path of ['chat', 'chat/stream', 'execute', 'deployments/dep_x/rollback']) {
      const answer = await fetch(`${app.url}/v1/bots/${bot}/${path}`, {
        method: 'POST',
        headers: { ...tenant.headers, ...TEXT },
        body: 'Hi',
      });
      expect([path, answer.status]).toEqual([path, 400]);
      expect(await answer.text()).toContain('application/json');
    }
  });

  test.each([
    ['?environment=test', 'environment', 'must be "production" or "staging"'],
    [
      '?environment=staging&environment=staging',
      'environment',
      'must be "production" or "staging"',
    ],
    ['?message=a&message=b', 'message', 'must be a string'],
    ['?strict=yes', 'strict', 'must be "0" or "1"'],
    ['?strict=', 'strict', 'must be "0" or "1"'],
    ['?strict=1&strict=1', 'strict', 'must be "0" or "1"'],
    ['?env_vars=KEY', '', 'unknown env_vars; the parameters are environment, message, strict'],
  ])('refuses the query %s', async (query, path, message) => {
    const bot = await tenant.bot(null);
    const { body } = await deploy(bot, agent(), { query });
    expect(body.error.details).toEqual([{ path, message }]);
    expect(await stored(bot)).toEqual([]);
  });
});

describe('a strict deploy', () => {
  const forms = [
    ['text', TEXT, (source: string) => source],
    ['JSON', JSON_TYPE, (source: string) => JSON.stringify({ agentlang: source })],
  ] as const;

  test.each(forms)(
    'that fails responds with 400, the deployment and an error: %s',
    async (_form, headers, write) => {
      const bot = await tenant.bot('prompt "As before."');
      const key = { ...headers, 'idempotency-key': 'strictly' };
      const lenient = await deploy(bot, write(BROKEN), { headers: key });
      const {
        status,
        body,
        headers: answered,
      } = await deploy(bot, write(BROKEN), {
        query: '?strict=1',
        headers: key,
      });
      expect(status).toBe(400);
      expect(body).toEqual({
        ...lenient.body,
        error: {
          code: 'definition_invalid',
          message: `Nothing was deployed: ${lenient.body.parse_errors[0]}.`,
          request_id: answered.get('x-request-id'),
        },
      });
      expect(body).toMatchObject({ status: 'failed', channels: [] });
      expect(answered.get('idempotency-replayed')).toBe('true');
      expect(answered.get('x-ratelimit-limit')).not.toBeNull();
      await tenant.chat(bot, { message: 'Hi' });
      expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toBe('As before.');
    },
  );

  test('reports the number of further errors', async () => {
    const source = 'agentlang 5\nagent "A" {\n  promt "Hi"\n  modle "x"\n  colour "blue"\n}\n';
    const { body } = await deploy(await tenant.bot(null), source, { query: '?strict=1' });
    const [first, ...others] = body.parse_errors;
    expect(others.length).toBeGreaterThan(0);
    expect(body.error.message).toBe(`Nothing was deployed: ${first}, and ${others.length} more.`);
  });

  test.each(forms)('that succeeds has the usual response: %s', async (_form, headers, write) => {
    const bot = await tenant.bot(null);
    const { status, body } = await deploy(bot, write(agent()), { query: '?strict=1', headers });
    expect([status, body.status, 'error' in body]).toEqual([200, 'deployed', false]);
  });

  test('with 0 is not strict', async () => {
    const { status, body } = await deploy(await tenant.bot(null), BROKEN, { query: '?strict=0' });
    expect([status, 'error' in body]).toEqual([200, false]);
  });

  test('that would send a kept variable to a new server responds with 400', async () => {
    const bot = await tenant.bot(null);
    const sendTo = (host: string) =>
      agent(
        `tools t { capability c "Calls" { get "https://${host}/" { header "X-Key" "{{ env.KEY }}" } } }`,
      );
    const json = JSON.stringify({ agentlang: sendTo('a.example'), env_vars: { KEY: 'secret' } });
    await deploy(bot, json, { headers: JSON_TYPE });
    const { status, body } = await deploy(bot, sendTo('b.example'), { query: '?strict=1' });
    expect([status, body.status, body.error.code]).toEqual([400, 'failed', 'definition_invalid']);
    expect(body.error.message).toContain('[env-new-destination]');
  });
});
