import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

describe('a model server that reports absurd token counts', () => {
  test('breaks neither the run, nor its session, nor the list of runs', async () => {
    const bot = await tenant.bot('tools time');
    let calls = 0;
    app.upstream.script(({ response, say, end }) => {
      calls += 1;
      if (calls > 1) {
        say('Noon.');
        return end({ prompt_tokens: 2e9, completion_tokens: 5 });
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (chunk: object) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      const called = { name: 'time_now', arguments: '{}' };
      const piece = { index: 0, id: 'c', type: 'function', function: called };
      send({ choices: [{ index: 0, delta: { tool_calls: [piece] }, finish_reason: null }] });
      send({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
      send({ choices: [], usage: { prompt_tokens: 2e9, completion_tokens: 5 } });
      response.end('data: [DONE]\n\n');
    });
    const session = { 'x-session-id': 's', 'x-on-busy': 'reject' };
    const answer = await tenant.chat(bot, { message: 'What time is it?' }, session);
    expect(await answer.json()).toMatchObject({ response: 'Noon.', tokens_used: 2_147_483_647 });
    const list = await fetch(`${app.url}/v1/bots/${bot}/runs`, { headers: tenant.headers });
    expect(list.status).toBe(200);
    expect((await tenant.chat(bot, { message: 'And now?' }, session)).status).toBe(200);
  });
});
