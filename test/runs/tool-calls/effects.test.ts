import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { type Site, type SiteHandler, startSite } from '../../helpers/site.ts';

/** Holds each request until the test has ended. */
const neverAnswers: SiteHandler = () => {};

let site: Site;
let upstreamUrl: string;
let first: TestApp;

beforeAll(async () => {
  site = await startSite();
});
beforeEach(async () => {
  first = await startApp({ allowedHosts: [site.host] });
  upstreamUrl = first.upstream.baseUrl;
  site.requests.length = 0;
});
afterAll(() => site.close());

const refund = (marks = '') => `tools orders {
    capability refund "Refunds an order." { input { order_id string } ${marks} post "${site.origin}/refunds" }
  }`;

/** Scripts an app's model to request a refund once, and then to answer. */
const askForRefund = ({ upstream }: TestApp) =>
  upstream.script(({ request, call, say, end }) => {
    const answer = request.body.messages.findLast(({ role }) => role === 'tool');
    if (!answer) return call(['orders_refund', { order_id: 'A-1' }]);
    say(answer.content);
    return end();
  });

const begin = async (tenant: Tenant, bot: string): Promise<string> => {
  const response = await fetch(`${first.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Refund A-1.', background: true }),
  });
  return (await response.json()).run_id;
};

/** Ends the first process in the middle of the run, and lets a second one take the run up again. */
const takenUpAgain = async (): Promise<TestApp> => {
  await first.close(0);
  expect(first.upstream.baseUrl).toBe(upstreamUrl);
  const second = await startApp({ allowedHosts: [site.host] });
  askForRefund(second);
  return second;
};

const finished = async (app: TestApp, runId: string) => {
  const read = () =>
    app.prisma.run.findUniqueOrThrow({
      where: { id: runId },
      select: {
        status: true,
        response: true,
        toolCalls: { orderBy: { position: 'asc' }, select: { id: true, status: true } },
      },
    });
  await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe('COMPLETED');
  return read();
};

const keys = () => site.requests.map(({ headers }) => headers['idempotency-key']);

describe('a background run that is taken up again', () => {
  test('does not repeat a call whose outcome is unknown', async () => {
    const tenant = await first.tenant();
    site.handle(neverAnswers);
    askForRefund(first);
    const runId = await begin(tenant, await tenant.bot(refund()));
    await expect.poll(() => site.requests.length).toBe(1);
    const second = await takenUpAgain();
    expect(await finished(second, runId)).toMatchObject({
      response: 'The outcome of this call is unknown. Do not repeat it.',
      toolCalls: [{ status: 'UNKNOWN' }],
    });
    expect(site.requests).toHaveLength(1);
  });

  test('repeats it with the same key if the capability is repeatable', async () => {
    const tenant = await first.tenant();
    site.handle(neverAnswers);
    askForRefund(first);
    const runId = await begin(tenant, await tenant.bot(refund('repeatable')));
    await expect.poll(() => site.requests.length).toBe(1);
    site.handle((_request, response) => response.end('Refunded.'));
    const second = await takenUpAgain();
    const run = await finished(second, runId);
    expect(run).toMatchObject({ response: 'Refunded.', toolCalls: [{ status: 'COMPLETED' }] });
    expect(keys()).toEqual([run.toolCalls[0]?.id, run.toolCalls[0]?.id]);
  });

  test('repeats a call that only reads', async () => {
    const tenant = await first.tenant();
    site.handle(neverAnswers);
    askForRefund(first);
    const runId = await begin(tenant, await tenant.bot(refund('reads')));
    await expect.poll(() => site.requests.length).toBe(1);
    site.handle((_request, response) => response.end('Found.'));
    const second = await takenUpAgain();
    expect(await finished(second, runId)).toMatchObject({ response: 'Found.' });
    expect(keys()).toEqual([undefined, undefined]);
  });

  test('uses the stored result of a completed call, and the model may call the same again', async () => {
    const tenant = await first.tenant();
    const held = Promise.withResolvers<void>();
    site.handle((_request, response) => response.end(`Refund ${site.requests.length}.`));
    first.upstream.script(async ({ request, call }) => {
      if (request.body.messages.some(({ role }) => role === 'tool')) return held.promise;
      return call(['orders_refund', { order_id: 'A-1' }]);
    });
    const runId = await begin(tenant, await tenant.bot(refund()));
    const stored = () => first.prisma.toolCall.count({ where: { runId, status: 'COMPLETED' } });
    await expect.poll(stored).toBe(1);
    await first.close(0);
    held.resolve();
    const second = await startApp({ allowedHosts: [site.host] });
    second.upstream.script(({ request, call, say, end }) => {
      const answers = request.body.messages.filter(({ role }) => role === 'tool');
      if (answers.length < 2) return call(['orders_refund', { order_id: 'A-1' }]);
      say(answers.map(({ content }) => content).join(' '));
      return end();
    });
    const run = await finished(second, runId);
    expect(run.response).toBe('Refund 1. Refund 2.');
    expect(run.toolCalls.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);
    expect(new Set(keys()).size).toBe(2);
  });
});

describe('a call that may change something', () => {
  test('is UNKNOWN if no response arrives, and the model learns it', async () => {
    const tenant = await first.tenant();
    site.handle((_request, response) => response.destroy());
    askForRefund(first);
    const bot = await tenant.bot(refund());
    const { response, run_id } = await (await tenant.chat(bot, { message: 'Go.' })).json();
    expect(response).toMatch(/^Error: .*The outcome of this call is unknown\. Do not repeat it\.$/);
    expect(await finished(first, run_id)).toMatchObject({ toolCalls: [{ status: 'UNKNOWN' }] });
  });

  test('is UNKNOWN if the run is cancelled before the response, and is not sent again', async () => {
    const tenant = await first.tenant();
    site.handle(neverAnswers);
    askForRefund(first);
    const id = await begin(tenant, await tenant.bot(refund()));
    await expect.poll(() => site.requests.length).toBe(1);
    const { errors } = await tenant.graphql('mutation ($id: ID!) { cancelRun(id: $id) { id } }', {
      id,
    });
    expect(errors).toBeUndefined();
    const read = () =>
      first.prisma.run.findUniqueOrThrow({ where: { id }, include: { toolCalls: true } });
    await expect.poll(async () => (await read()).status).toBe('CANCELLED');
    await expect
      .poll(async () => (await read()).toolCalls)
      .toMatchObject([{ status: 'UNKNOWN', idempotencyKey: expect.stringMatching(/^tcl_/) }]);
    expect(site.requests).toHaveLength(1);
  });

  test('is not sent if it cannot be recorded: the run fails as in an outage', async () => {
    const tenant = await first.tenant();
    askForRefund(first);
    const bot = await tenant.bot(refund());
    const trap = `CREATE FUNCTION refuse_calls() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'No more records.'; END $$`;
    await first.prisma.$executeRawUnsafe(trap);
    await first.prisma.$executeRawUnsafe(
      'CREATE TRIGGER refuse_calls BEFORE INSERT ON tool_calls EXECUTE FUNCTION refuse_calls()',
    );
    try {
      const response = await tenant.chat(bot, { message: 'Go.' });
      expect(response.status).toBe(500);
      expect((await response.json()).error.code).toBe('internal_error');
    } finally {
      await first.prisma.$executeRawUnsafe('DROP FUNCTION refuse_calls CASCADE');
    }
    expect(site.requests).toEqual([]);
  });

  test("has the definition's own key, if it sets one", async () => {
    const tenant = await first.tenant();
    site.handle((_request, response) => response.end('Refunded.'));
    askForRefund(first);
    const own = refund().replace(
      '/refunds"',
      '/refunds" { header "Idempotency-Key" "order-{{input.order_id}}" }',
    );
    await (await tenant.chat(await tenant.bot(own), { message: 'Go.' })).json();
    expect(keys()).toEqual(['order-A-1']);
  });

  test('keeps its key over redirects, also to another origin', async () => {
    const tenant = await first.tenant();
    site.handle(({ url }, response) => {
      if (url === '/refunds') response.writeHead(307, { location: '/v2/refunds' }).end();
      else response.end('Refunded.');
    });
    askForRefund(first);
    await (await tenant.chat(await tenant.bot(refund()), { message: 'Go.' })).json();
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
  });
});
