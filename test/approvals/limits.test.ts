import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalsOf, decide, requestAndRepeat } from '../helpers/approvals.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  site.requests.length = 0;
});
afterAll(() => site.close());

const REFUND = () => `tools orders {
    capability refund "Refunds an order." { input { order_id string } approval post "${site.origin}/refunds" }
  }`;
const WAITS = /^This call waits for approval by a person\./;

const ask = async (bot: string, order_id: string) => {
  requestAndRepeat(app, ['orders_refund', { order_id }]);
  const headers = { 'x-session-id': 'ada' };
  const answer = await tenant.chat(bot, { message: `Refund ${order_id}.` }, headers);
  return answer.json();
};

const execute = async (bot: string) => {
  const response = await fetch(`${app.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Refund it.' }),
  });
  return response.json();
};

/** Stores copies of a bot's waiting call, each with its own id. */
const multiply = (bot: string, copies: number) =>
  app.prisma.$executeRaw`
    WITH call AS (SELECT tool_calls.* FROM tool_calls JOIN approvals USING (id) WHERE bot_id = ${bot}),
      copied AS (
        INSERT INTO tool_calls (id, run_id, position, call_id, name, digest, arguments, status, started_at)
        SELECT id || '_' || number, run_id, number, call_id, name, digest, arguments, status, started_at
        FROM call, generate_series(1, ${copies}::int) AS number RETURNING id
      )
    INSERT INTO approvals (id, bot_id, run_id, deployment_id, environment, channel, session_id, background, name,
      arguments, request, values, digest, expires_at)
    SELECT copied.id, bot_id, run_id, deployment_id, environment, channel, session_id, background, name,
      arguments, request, values, digest || copied.id, expires_at
    FROM copied, approvals WHERE bot_id = ${bot}`;

describe('waiting calls', () => {
  test('of a bot are at most 1,000: the next call fails with a clear error, until a person has decided', async () => {
    const bot = await tenant.bot(REFUND());
    expect((await ask(bot, 'A-1')).response).toMatch(WAITS);
    await multiply(bot, 998);
    expect((await ask(bot, 'A-2')).response).toMatch(WAITS);
    const { response, run_id } = await ask(bot, 'A-3');
    expect(response).toBe(
      'Error: Too many calls wait for approval. This call has not happened. Tell the user.',
    );
    expect(await app.prisma.approval.count({ where: { botId: bot } })).toBe(1_000);
    const refused = await app.prisma.toolCall.findMany({ where: { runId: run_id } });
    expect(refused).toMatchObject([{ status: 'REFUSED', result: response }]);

    const [oldest] = await approvalsOf(app, bot);
    expect(await decide(app, tenant, oldest?.id ?? '', 'DENY')).toBeUndefined();
    expect((await ask(bot, 'A-3')).response).toMatch(WAITS);
    expect(site.requests).toEqual([]);
  });

  test('of a run are at most 16', async () => {
    const bot = await tenant.bot(`${REFUND()} limits { tool_calls 20 }`);
    const calls = Array.from({ length: 18 }, (_, index): [string, unknown] => [
      'orders_refund',
      { order_id: `A-${index}` },
    ]);
    requestAndRepeat(app, ...calls);
    const { response } = await execute(bot);
    expect(response.split('\n').map((line: string) => WAITS.test(line))).toEqual(
      calls.map((_, index) => index < 16),
    );
    expect(response.split('\n').slice(16)).toEqual(
      Array(2).fill(
        'Error: Too many calls wait for approval. This call has not happened. Tell the user.',
      ),
    );
    expect(await approvalsOf(app, bot)).toHaveLength(16);
  });
});

/** Forms of the arguments of one call, which differ as texts only. */
const FORMS = [
  '{"order_id":"A-1","amount":1,"day":2}',
  '{ "day": 2, "amount": 1.0, "order_id": "\\u0041-1" }',
  '{"amount":10e-1,"order_id":"A-1","amount":1,"day":2.00}',
];

/** Calls of which each differs from all others, and from `FORMS`. */
const OTHERS = [
  '{"order_id":"A-1","amount":1,"day":1}',
  '{"order_id":"A-1","amount":1.5,"day":2}',
  '{"order_id":"a-1","amount":1,"day":2}',
  '{"order_id":"A-\u0665","amount":1,"day":2}',
  '{"order_id":"\\\\u0041-1","amount":1,"day":2}',
  '{"order_id":"A-é","amount":1,"day":2}',
  '{"order_id":"A-e\u0301","amount":1,"day":2}',
  '{"order_id":"A-1","amount":1,"day":2,"note":"1"}',
  '{"order_id":"A-1","amount":1,"day":2,"note":" 1"}',
];

describe.each([
  ['in the body', 'post "ORIGIN/refunds"'],
  ['in the query', 'delete "ORIGIN/refunds"'],
  ['with the time in the URL and a header', 'post "ORIGIN/at/{{now}}" { header "X-At" "{{now}}" }'],
])('calls whose arguments are sent %s', (_, request) => {
  const members = () => `tools orders {
    capability refund "Refunds an order." {
      input { order_id string  amount number  day integer  note string? }
      approval
      ${request.replace('ORIGIN', site.origin)}
    }
  } limits { tool_calls 20 }`;
  const askFor = async (bot: string, ...inputs: string[]) => {
    requestAndRepeat(app, ...inputs.map((input): [string, unknown] => ['orders_refund', input]));
    const headers = { 'x-session-id': 'ada' };
    const answer = await tenant.chat(bot, { message: 'Refund it.' }, headers);
    const lines: string[] = (await answer.json()).response.split('\n');
    return lines.map((line) => (WAITS.test(line) ? 'waits' : line.slice(0, 13)));
  };

  test('wait once if they are equal as JSON values, in one answer and in a later one', async () => {
    const bot = await tenant.bot(members());
    const equal = 'An equal call';
    expect(await askFor(bot, ...FORMS)).toEqual(['waits', equal, equal]);
    expect(await askFor(bot, ...FORMS.toReversed())).toEqual([equal, equal, equal]);
    expect(await askFor(bot, ...OTHERS)).toEqual(OTHERS.map(() => 'waits'));
    expect(await askFor(bot, ...OTHERS)).toEqual(OTHERS.map(() => equal));
    expect(await approvalsOf(app, bot)).toHaveLength(1 + OTHERS.length);
  });
});

test('equal calls wait apart if another value of the context is sent with them', async () => {
  const bot = await tenant.bot(`tools orders {
    capability refund "Refunds an order." { approval post "${site.origin}/refunds" { header "X-Shop" "{{context.shop}}" } }
  }`);
  requestAndRepeat(app, ['orders_refund', {}]);
  const request = async (context: object) => {
    const headers = { 'x-session-id': 'ada' };
    const answer = await tenant.chat(bot, { message: 'Refund it.', context }, headers);
    return (await answer.json()).response.slice(0, 13);
  };
  expect(await request({ shop: { name: 'Main', no: 1 } })).toBe('This call wai');
  expect(await request({ shop: { no: 1, name: 'Main' }, time: 12 })).toBe('An equal call');
  expect(await request({ shop: { no: 2, name: 'Main' } })).toBe('This call wai');
});

describe('a model that requests the same call 100 times', () => {
  const calls = Array.from({ length: 20 }, (): [string, unknown] => [
    'orders_refund',
    { order_id: 'A-1' },
  ]);
  const members = () => `${REFUND()} limits { tool_calls 20 }`;

  test('asks once in a conversation', async () => {
    const bot = await tenant.bot(members());
    requestAndRepeat(app, ...calls);
    for (let message = 1; message <= 5; message += 1) {
      const headers = { 'x-session-id': 'ada' };
      const { response } = await (
        await tenant.chat(bot, { message: 'Refund A-1.' }, headers)
      ).json();
      const lines: string[] = response.split('\n');
      expect(lines.filter((line) => WAITS.test(line))).toHaveLength(message === 1 ? 1 : 0);
      expect(lines.filter((line) => line.startsWith('An equal call waits for'))).toHaveLength(
        message === 1 ? 19 : 20,
      );
    }
    expect(await approvalsOf(app, bot)).toHaveLength(1);
    expect(site.requests).toEqual([]);
  });

  test('asks once in an execution, and an equal execution asks again', async () => {
    const bot = await tenant.bot(members());
    requestAndRepeat(app, ...calls);
    await execute(bot);
    expect(await approvalsOf(app, bot)).toHaveLength(1);
    await execute(bot);
    expect(await approvalsOf(app, bot)).toHaveLength(2);
    expect(site.requests).toEqual([]);
  });
});
