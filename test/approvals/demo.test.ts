import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createOfflineModel } from '../../src/model/offline.ts';
import { startApp } from '../helpers/app.ts';

const SOURCE = new URL('../../prisma/examples/demo.agent', import.meta.url);

test('the demo bot asks for a refund, sends it once it is approved, and tells the user, all over HTTP and offline', async () => {
  const app = await startApp({ model: createOfflineModel({ pace: 0 }) });
  const tenant = await app.tenant();
  const bot = await tenant.bot(null);
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${app.url}/v1/bots/${bot}/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...tenant.headers, 'content-type': 'application/json', 'x-session-id': 'ada' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return response.json();
  };
  await call('deploy', { agentlang: readFileSync(SOURCE, 'utf8') });

  const message = 'Call shop.refund with {"order_id": "A-1042"}';
  const { response, run_id } = await call('chat', { message });
  expect(response).toContain('This call waits for approval by a person. It has not happened.');
  const { approvals } = await call('approvals?status=waiting');
  expect(approvals).toMatchObject([
    {
      name: 'shop.refund',
      reason: 'This is a demo. Approve the call to see what follows.',
      arguments: { order_id: 'A-1042' },
      request: { method: 'POST', url: 'https://demo.parley.invalid/refunds' },
      run_id,
    },
  ]);
  const [{ id }] = approvals;
  await call(`approvals/${id}/decision`, { decision: 'approve', note: 'Confirmed by phone.' });

  const followUp = async () => (await call(`approvals/${id}`)).follow_up_run_id;
  await expect.poll(followUp).toMatch(/^run_/);
  const { tool_calls } = await call(`runs/${run_id}`);
  const result = '{"refunded":true,"note":"A demo: nothing was paid."}';
  expect(tool_calls).toMatchObject([{ id, status: 'completed', http_status: 200, result }]);
  const told = await call(`runs/${await followUp()}`);
  expect(told.response).toContain(
    `was approved by a person: Confirmed by phone. Its result: ${result}`,
  );
  const { data } = await tenant.graphql(
    `query ($bot: ID!) { bot(id: $bot) { session(id: "ada") { waitsForApproval
      messages(last: 1) { edges { node { role text } } } } } }`,
    { bot },
  );
  expect(data.bot.session).toEqual({
    waitsForApproval: false,
    messages: { edges: [{ node: { role: 'ASSISTANT', text: told.response } }] },
  });
});
