import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { assertLimits, readError } from '../helpers/documented.ts';
import { testRandom } from '../helpers/random.ts';
import { rounds } from '../helpers/rounds.ts';
import { exchange, readAnswers, type WireAnswer } from '../helpers/wire.ts';
import { bodiesLike } from './fuzz/bodies.ts';
import { createRawRequests } from './fuzz/raw.ts';

const BODIES = rounds(350, 3_500);
const QUERIES = rounds(250, 2_500);
const RAW = rounds(400, 4_000);
/** The number of concurrent requests. */
const AT_ONCE = 50;

let app: TestApp;
let tenant: Tenant;
let bot: string;
/** A bot on which a valid message gets as far as possible without a run. */
let undeployed: string;
beforeAll(async () => {
  app = await startApp({ trustProxy: ['127.0.0.1'] });
  tenant = await app.tenant();
  bot = await tenant.bot();
  undeployed = await tenant.bot(null);
});

/** Sends all, a few at a time. An error contains its request. */
async function all<T>(sent: T[], send: (one: T) => Promise<void>): Promise<void> {
  const waiting = sent.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of waiting) {
        await send(one).catch((cause) => {
          throw new Error(`${cause} after ${JSON.stringify(one)}`, { cause });
        });
      }
    }),
  );
}

/** Accepts only documented responses, and no status 500. */
function assertDocumented(answer: WireAnswer): void {
  const { status, headers, body } = answer;
  const isPage = headers.get('content-type')?.startsWith('text/html') ?? false;
  // A path may leave the API and reach the console's page, which counts no request.
  if ([200, 404].includes(status) && isPage) return;
  if (status === 200 || status === 202) assertLimits(headers);
  else if (body !== '') readError(answer, false);
  if (![200, 202, 400, 401, 403, 404, 429].includes(status))
    throw new Error(`The response has status ${status}`);
}

async function send(path: string, init: RequestInit): Promise<void> {
  const answer = await fetch(app.url + path, { ...init, signal: AbortSignal.timeout(120_000) });
  const { status, headers } = answer;
  assertLimits(headers);
  assertDocumented({ status, headers, body: await answer.text() });
}

describe('random requests get documented responses, no 500 and no hang', () => {
  test('with random bodies', async () => {
    const random = testRandom();
    const good = { message: 'Hi', context: { a: 1 }, stream: false, environment: 'staging' };
    const targets = [
      { path: `${undeployed}/chat`, body: good },
      { path: `${undeployed}/chat/stream`, body: good },
      { path: `${undeployed}/execute`, body: { ...good, prompt: 'Hi', background: true } },
      { path: `${bot}/deploy`, body: { agentlang: '', env_vars: { A: 'a' }, message: 'M' } },
      { path: `${bot}/deployments/dep_none/rollback`, body: { message: 'M' } },
    ];
    for (const { path, body } of targets) {
      const seed = random.int(0, 2 ** 31 - 1);
      await all(fc.sample(bodiesLike(body), { seed, numRuns: BODIES / targets.length }), (text) =>
        send(`/v1/bots/${path}`, {
          method: 'POST',
          headers: { ...tenant.headers, 'content-type': 'application/json' },
          body: text,
        }),
      );
    }
  });

  test('with random paths, queries and headers', async () => {
    const random = testRandom();
    const text = fc.string({ unit: 'binary', maxLength: 20 }).map((any) => any.toWellFormed());
    const named = (...names: string[]) =>
      fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), text), { maxLength: 3 });
    const header = fc.string({
      unit: fc.integer({ min: 32, max: 126 }).map((at) => String.fromCharCode(at)),
    });
    const request = fc.record({
      path: fc.oneof(
        fc.constantFrom(
          'runs',
          'deployments',
          'runs/run_none',
          'runs/run_none/events',
          'chat/stream',
        ),
        text.map((any) => `runs/${encodeURIComponent(any)}`),
        text.map((any) => `runs/${encodeURIComponent(any)}/events`),
      ),
      of: fc.oneof({ weight: 9, arbitrary: fc.constant(undeployed) }, text.map(encodeURIComponent)),
      query: named(
        'limit',
        'cursor',
        'status',
        'user',
        'date',
        'from',
        'to',
        'kind',
        'after',
        'message',
        'session_id',
      ),
      headers: fc.dictionary(
        fc.constantFrom(
          'x-session-id',
          'last-event-id',
          'x-environment',
          'idempotency-key',
          'accept',
          'traceparent',
        ),
        header,
        { maxKeys: 3 },
      ),
    });
    const seed = random.int(0, 2 ** 31 - 1);
    await all(fc.sample(request, { seed, numRuns: QUERIES }), ({ path, of, query, headers }) =>
      send(`/v1/bots/${of || 'x'}/${path}?${new URLSearchParams(query)}`, {
        headers: { ...headers, ...tenant.headers },
      }),
    );
  });

  test('with random bytes that may not be HTTP', async () => {
    const make = createRawRequests(testRandom(), { bot: undeployed, apiKey: tenant.apiKey });
    const unanswered: string[] = [];
    await all(Array.from({ length: RAW }, make), async ({ text, isFramed }) => {
      const bytes = Buffer.from(text, 'latin1');
      const answered = await exchange(app.url, bytes, { hangsUp: !isFramed });
      const answers = readAnswers(answered, text.startsWith('HEAD '));
      for (const answer of answers) assertDocumented(answer);
      if (isFramed && answers.length === 0) unanswered.push(text);
    });
    expect(unanswered).toEqual([]);
  });

  test('after which the server works as before', async () => {
    const answer = await tenant.chat(bot, { message: 'Hi' });
    expect(await answer.json()).toMatchObject({ response: 'Hello there.' });
  });
});
