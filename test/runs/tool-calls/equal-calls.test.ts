import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { type McpSite, startMcp, textResult, tool } from '../../helpers/mcp.ts';
import { type Site, startSite } from '../../helpers/site.ts';

let site: Site;
let mcp: McpSite;
let first: TestApp;

const start = () => startApp({ allowedHosts: [site.host, mcp.host] });

beforeAll(async () => {
  site = await startSite();
  mcp = await startMcp();
});
beforeEach(async () => {
  first = await start();
  site.requests.length = 0;
  mcp.requests.length = 0;
  mcp.calls.length = 0;
});
afterAll(async () => {
  await site.close();
  await mcp.close();
});

/** Scripts a model that requests one call, and repeats its result, unless it is silent after the call. */
const requestOnce = (
  { upstream }: TestApp,
  name: string,
  input: unknown,
  silence?: Promise<void>,
) =>
  upstream.script(({ request, call, say, end }) => {
    const answer = request.body.messages.findLast(({ role }) => role === 'tool');
    if (!answer) return call([name, input]);
    if (silence) return silence;
    say(answer.content);
    return end();
  });

const begin = async (members: string) => {
  const tenant = await first.tenant();
  const bot = await tenant.bot(members);
  const response = await fetch(`${first.url}/v1/bots/${bot}/execute`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Do it.', background: true }),
  });
  return (await response.json()).run_id as string;
};

const calls = (runId: string) =>
  first.prisma.toolCall.findMany({ where: { runId }, orderBy: { position: 'asc' } });

/** Lets another process take the run up again. @returns its response. */
const takeUp = async (runId: string, name: string, input: unknown): Promise<string | null> => {
  await first.close(0);
  const second = await start();
  requestOnce(second, name, input);
  const read = () => second.prisma.run.findUniqueOrThrow({ where: { id: runId } });
  await expect.poll(async () => (await read()).status).toBe('COMPLETED');
  return (await read()).response;
};

describe('a later attempt at a background run', () => {
  const members = () => `tools orders {
    capability refund "Refunds an order." {
      input { order_id string  amount number } post "${site.origin}/refunds"
    }
  }`;

  /** Requests a call until its record has ended, then requests it once more in a later attempt. */
  const again = async (input: string, later: string) => {
    const silent = Promise.withResolvers<void>();
    requestOnce(first, 'orders_refund', input, silent.promise);
    const runId = await begin(members());
    await expect.poll(async () => (await calls(runId))[0]?.finishedAt ?? null).not.toBeNull();
    const response = await takeUp(runId, 'orders_refund', later);
    silent.resolve();
    return { response, statuses: (await calls(runId)).map(({ status }) => status) };
  };

  test('uses the stored error of a failed call, and sends nothing', async () => {
    site.handle((_request, response) => {
      response.writeHead(site.requests.length === 1 ? 404 : 200).end('No such order.');
    });
    const input = '{"order_id":"A-1","amount":1}';
    expect(await again(input, input)).toEqual({
      response: 'Error: HTTP 404: No such order.',
      statuses: ['FAILED'],
    });
    expect(site.requests).toHaveLength(1);
  });

  test('knows a call by its arguments as JSON values: neither order, spaces nor the form of a number count', async () => {
    site.handle((_request, response) => response.end(`Refund ${site.requests.length}.`));
    expect(
      await again('{"order_id":"A-1","amount":1}', '{ "amount": 1.0, "order_id": "\\u0041-1" }'),
    ).toEqual({ response: 'Refund 1.', statuses: ['COMPLETED'] });
    expect(site.requests).toHaveLength(1);
  });

  test('sends a call with another argument', async () => {
    site.handle((_request, response) => response.end(`Refund ${site.requests.length}.`));
    expect(await again('{"order_id":"A-1","amount":1}', '{"order_id":"A-1","amount":2}')).toEqual({
      response: 'Refund 2.',
      statuses: ['COMPLETED', 'COMPLETED'],
    });
    expect(site.requests).toHaveLength(2);
  });
});

describe('a tool of an MCP server', () => {
  const never = () => new Promise<never>(() => {});
  const members = () => `tools shop mcp "${mcp.url}" {}`;
  const keys = () =>
    mcp.requests
      .filter(({ rpc }) => rpc === 'tools/call')
      .map(({ headers }) => headers['idempotency-key']);

  /** Ends the process during the call, and lets a later attempt request the call again. */
  const interrupted = async (annotations?: object) => {
    mcp.offer([{ ...tool('pay'), annotations }]);
    mcp.handle(never);
    requestOnce(first, 'shop_pay', {});
    const runId = await begin(members());
    await expect.poll(() => mcp.calls.length).toBe(1);
    const ahead = await calls(runId);
    mcp.handle(() => textResult('Paid.'));
    const response = await takeUp(runId, 'shop_pay', {});
    const [call] = await calls(runId);
    return { ahead, response, id: call?.id, status: call?.status };
  };

  test('without readOnlyHint is written ahead, and is not called again', async () => {
    const { ahead, response, id, status } = await interrupted();
    expect(ahead).toMatchObject([{ id, status: 'RUNNING', idempotencyKey: id, name: 'shop.pay' }]);
    expect(response).toBe('The outcome of this call is unknown. Do not repeat it.');
    expect(status).toBe('UNKNOWN');
    expect(keys()).toEqual([id]);
  });

  test('with idempotentHint is written ahead, and is called again with its key', async () => {
    const { ahead, response, id, status } = await interrupted({ idempotentHint: true });
    expect(ahead).toMatchObject([{ id, status: 'RUNNING', idempotencyKey: id }]);
    expect([response, status]).toEqual(['Paid.', 'COMPLETED']);
    expect(keys()).toEqual([id, id]);
  });

  test('with readOnlyHint is not written ahead, and is called again without a key', async () => {
    const { ahead, response, status } = await interrupted({ readOnlyHint: true });
    expect(ahead).toEqual([]);
    expect([response, status]).toEqual(['Paid.', 'COMPLETED']);
    expect(keys()).toEqual([undefined, undefined]);
  });
});
