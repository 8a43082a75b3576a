import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashApiKey } from '../../../src/accounts/key-format.ts';
import { createCountRuns } from '../../../src/runs/stats/count-runs.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { makeEvaluation } from '../../helpers/evaluations.ts';
import { recordStatements } from '../../helpers/statements.ts';

const USAGE = `{ viewer { usage {
  requestsThisMinute requestsToday tokensThisMonth
  byBot { bot { id name } requests tokens }
  byKey { apiKey { id } requests tokens }
} } }`;
const NOW = Date.UTC(2026, 4, 20, 12);
const MONTH = Date.UTC(2026, 4, 1);

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp({ clock: () => NOW });
});
beforeEach(async () => {
  tenant = await app.tenant();
});

const usageOf = async (secret = tenant.apiKey) => {
  const { data, errors } = await app.graphql(secret, USAGE);
  expect(errors).toBeUndefined();
  return data.viewer.usage;
};

const idOf = async (secret: string) =>
  (await app.prisma.apiKey.findUniqueOrThrow({ where: { hash: hashApiKey(secret) } })).id;

/** A run of 10 prompt tokens and the given completion tokens. */
const addRun = (botId: string, keyId: string | null, tokens: number, createdAt = NOW) =>
  app.prisma.run.create({
    data: {
      id: makeId('run'),
      botId,
      keyId,
      environment: 'PRODUCTION',
      kind: 'CHAT',
      channel: 'API',
      status: 'COMPLETED',
      input: 'Hi',
      promptTokens: 10,
      completionTokens: tokens - 10,
      createdAt: new Date(createdAt),
    },
  });

describe('the usage of an account', () => {
  test('reads each kind of rows once, however many aliases the document has', async () => {
    const bot = await tenant.bot();
    await addRun(bot, await idOf(tenant.apiKey), 30);
    const aliases = Array.from({ length: 20 }, (_, index) => index);
    const fields = aliases.map((n) => `b${n}: byBot { bot { id } } k${n}: byKey { requests }`);
    const statements = recordStatements();
    const { data } = await tenant.graphql(`{ viewer { usage { ${fields.join(' ')} } } }`);
    expect(data.viewer.usage).toMatchObject({
      b19: [{ bot: { id: bot } }],
      k19: [{ requests: 1 }],
    });
    const reads = (what: RegExp) => statements.texts().filter((text) => what.test(text)).length;
    expect(reads(/web_origins/)).toBe(1);
    expect(reads(/FROM .*api_keys.*WHERE .*IN/)).toBe(1);
    expect(reads(/GROUPING SETS/)).toBe(1);
  });

  test('has the tokens of evaluations, which are no requests', async () => {
    const bot = await tenant.bot();
    const keyId = await idOf(tenant.apiKey);
    const evaluation = async (createdAt: number, more: object) => {
      const id = await makeEvaluation(app, bot);
      await app.prisma.evaluation.update({
        where: { id },
        data: { createdAt: new Date(createdAt), promptTokens: 40, completionTokens: 2, ...more },
      });
    };
    await evaluation(NOW, { keyId });
    await evaluation(MONTH, {});
    await evaluation(MONTH - 1, { keyId });
    expect(await usageOf()).toMatchObject({
      tokensThisMonth: 84,
      byBot: [{ bot: { id: bot }, requests: 0, tokens: 84 }],
      byKey: [{ apiKey: { id: keyId }, requests: 0, tokens: 42 }],
    });
    await addRun(bot, keyId, 30);
    expect(await usageOf()).toMatchObject({
      tokensThisMonth: 114,
      byBot: [{ requests: 1, tokens: 114 }],
      byKey: [{ requests: 1, tokens: 72 }],
    });
  });

  test('counts requests like the rate limits, including this one', async () => {
    await tenant.graphql('{ a: viewer { account { id } } b: viewer { account { id } } }');
    expect(await usageOf()).toEqual({
      requestsThisMinute: 3,
      requestsToday: 3,
      tokensThisMonth: 0,
      byBot: [],
      byKey: [],
    });
  });

  test('sums up the tokens of the month by bot and by key', async () => {
    const [one, two] = [await tenant.bot(null), await tenant.bot(null)];
    const [mine, other] = await Promise.all([idOf(tenant.apiKey), tenant.key().then(idOf)]);
    await addRun(one, mine, 30, MONTH);
    await addRun(one, mine, 1_000, MONTH - 1);
    await addRun(two, other, 100);
    await addRun(two, mine, 20);
    await addRun(two, null, 50);
    const expected = {
      tokensThisMonth: 200,
      byBot: [
        { bot: { id: two, name: 'Bot' }, requests: 3, tokens: 170 },
        { bot: { id: one, name: 'Bot' }, requests: 1, tokens: 30 },
      ],
      byKey: [
        { apiKey: { id: other }, requests: 1, tokens: 100 },
        { apiKey: { id: mine }, requests: 2, tokens: 50 },
      ],
    };
    expect(await usageOf()).toMatchObject(expected);
    // The same from totals alone, which the app may count at the same time.
    const { countAll } = createCountRuns({ prisma: app.prisma });
    const days = async () => {
      await countAll(new AbortController().signal);
      return app.prisma.runTotal.count({ where: { botId: one, unit: 'DAY' } });
    };
    await expect.poll(days).toBe(2);
    expect(await usageOf()).toMatchObject(expected);
  });

  test('names the key of a chat, a prompt, a queued prompt and a session token’s chat', async () => {
    const bot = await tenant.bot();
    const secret = await tenant.key({ scopes: ['CHAT'] });
    const { data } = await app.graphql(
      secret,
      `mutation ($bot: ID!) {
        chat(botId: $bot, input: { message: "Hi" }) { runId }
        execute(botId: $bot, input: { prompt: "Hi" }) { id }
        later: execute(botId: $bot, input: { prompt: "Hi", background: true }) { id }
        createSessionToken(input: { botId: $bot, sessionId: "u" }) { token }
      }`,
      { bot },
    );
    const keyed = `mutation ($bot: ID!) { chat(botId: $bot, input: { message: "Hi", idempotencyKey: "k" }) { runId } }`;
    await app.graphql(data.createSessionToken.token, keyed, { bot });
    const runs = await app.prisma.run.findMany({ where: { botId: bot } });
    const id = await idOf(secret);
    expect(runs.map(({ keyId }) => keyId)).toEqual([id, id, id, id]);
  });

  test('shows a restricted key only its own bots, and no key with more scopes', async () => {
    const [open, closed] = [await tenant.bot(null), await tenant.bot(null)];
    const secret = await tenant.key({ scopes: ['ADMIN', 'RUNS'], botIds: [open] });
    const mine = await idOf(secret);
    await addRun(open, mine, 20);
    await addRun(open, await idOf(tenant.apiKey), 30);
    await addRun(closed, mine, 500);
    const { tokensThisMonth, byBot, byKey } = await usageOf(secret);
    expect(tokensThisMonth).toBe(50);
    expect(byBot).toEqual([{ bot: { id: open, name: 'Bot' }, requests: 2, tokens: 50 }]);
    expect(byKey).toEqual([{ apiKey: { id: mine }, requests: 1, tokens: 20 }]);
  });

  test('contains nothing of another account', async () => {
    const other = await app.tenant();
    await addRun(await other.bot(null), await idOf(other.apiKey), 500);
    const { tokensThisMonth, byBot, byKey } = await usageOf();
    expect([tokensThisMonth, byBot, byKey]).toEqual([0, [], []]);
  });
});

test('the rate limit in GraphQL equals the rate-limit headers', async () => {
  const query = JSON.stringify({ query: '{ viewer { rateLimit { limit remaining resetAt } } }' });
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: query,
  });
  const { headers } = response;
  const { rateLimit } = (await response.json()).data.viewer;
  expect(rateLimit).toEqual({
    limit: Number(headers.get('x-ratelimit-limit')),
    remaining: Number(headers.get('x-ratelimit-remaining')),
    resetAt: new Date(Number(headers.get('x-ratelimit-reset')) * 1_000).toISOString(),
  });
});
