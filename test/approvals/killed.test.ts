import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { installation } from '../helpers/installation.ts';
import { type ServerProcess, startServer } from '../helpers/server.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

const apiKey = makeApiKey();
let upstream: Upstream;
let site: Site;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.script(({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'user' && last.content === 'Pay and book.')
      return call(['shop_pay', {}], ['shop_book', {}]);
    say(`Read: ${last?.content}`);
    return end();
  });
  site = await startSite();
});
afterAll(async () => {
  await upstream.close();
  await site.close();
});

const SOURCE = () => `agentlang 5
agent "Payer" { prompt "Pay." tools shop {
  capability pay "Pays." { approval post "${site.origin}/pay" }
  capability book "Books." { repeatable approval post "${site.origin}/book" }
} }`;

const request = async ({ url }: ServerProcess, path: string, body?: object, more = {}) => {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    ...more,
  };
  const method = body ? 'POST' : 'GET';
  const response = await fetch(`${url}/v1/bots/demo/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
};

type ListedApproval = { id: string; name: string; follow_up_run_id: string | null };

test('an approved call whose server was killed is UNKNOWN, or is sent again with its key if it is repeatable', async () => {
  const options = await installation('approved_calls', {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
    PARLEY_ALLOWED_HOSTS: site.host,
  });
  const killed = await startServer(options);
  const deployed = await request(killed, 'deploy', { agentlang: SOURCE() });
  expect(deployed.status).toBe('deployed');
  const message = { message: 'Pay and book.' };
  const { run_id: runId } = await request(killed, 'chat', message, { 'x-session-id': 'ada' });
  const waiting = await request(killed, 'approvals?status=waiting');
  const idOf = (name: string): string =>
    waiting.approvals.find((one: ListedApproval) => one.name === name)?.id;
  site.handle(() => {});
  for (const { id } of waiting.approvals)
    await request(killed, `approvals/${id}/decision`, { decision: 'approve' });
  await expect.poll(() => site.requests.length).toBe(2);
  await killed.stop('SIGKILL');
  site.handle((_request, response) => response.end('Done.'));

  const server = await startServer(options);
  const outcomeOf = async (name: string) => {
    const read = (): Promise<ListedApproval> => request(server, `approvals/${idOf(name)}`);
    await expect.poll(async () => (await read()).follow_up_run_id).toMatch(/^run_/);
    const { response } = await request(server, `runs/${(await read()).follow_up_run_id}`);
    const { tool_calls: calls } = await request(server, `runs/${runId}`);
    const call = calls.find(({ id }: { id: string }) => id === idOf(name));
    return { status: call?.status, response };
  };
  expect(await outcomeOf('shop.pay')).toEqual({
    status: 'unknown',
    response: expect.stringContaining('Its outcome is unknown. Do not repeat it.'),
  });
  expect(await outcomeOf('shop.book')).toEqual({
    status: 'completed',
    response: expect.stringContaining('Its result: Done.'),
  });
  const keysOf = (path: string) =>
    site.requests
      .filter(({ url }) => url === path)
      .map(({ headers }) => headers['idempotency-key']);
  expect(keysOf('/pay')).toEqual([idOf('shop.pay')]);
  expect(keysOf('/book')).toEqual([idOf('shop.book'), idOf('shop.book')]);
  await server.stop('SIGTERM');
});
