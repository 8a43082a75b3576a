import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Parley, type ParleyError } from '../../src/client/index.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { hello } from '../helpers/upstream.ts';
import { startUnreliableProxy } from './unreliable-proxy.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot('prompt "Customer {{ context.customer }}."');
});

/** A client as a page has it: with a token for one session. */
async function pageClient(sessionId: string, baseUrl = app.url) {
  const { data } = await tenant.graphql(
    `mutation ($input: CreateSessionTokenInput!) { createSessionToken(input: $input) { token } }`,
    { input: { botId: bot, sessionId, expiresIn: 900, context: { customer: '42' } } },
  );
  return new Parley({ sessionToken: data.createSessionToken.token, baseUrl });
}

describe('a session token', () => {
  test('chats by GraphQL, whole and streamed', async () => {
    const parley = await pageClient('user-1');
    const reply = await parley.chat(bot, { message: 'Hi', sessionId: 'user-1' });
    expect(reply).toEqual({
      response: 'Hello there.',
      sessionId: 'user-1',
      runId: expect.stringMatching(/^run_/),
      latencyMs: expect.any(Number),
      tokensUsed: 15,
      toolsCalled: [],
    });
    const prompt = app.upstream.requests.at(-1)?.body.messages[0]?.content;
    expect(prompt).toContain('Customer 42.');
    const stream = parley.chatStream(bot, { message: 'Hi', onBusy: 'reject' });
    expect(await Array.fromAsync(stream)).toEqual(['Hello', ' ', 'there.']);
    expect(await stream.finalReply()).toMatchObject({ response: 'Hello there.', tokensUsed: 15 });
    expect(parley.limits).toMatchObject({ limit: 1_000_000 });
  });

  test('reads a stream across lost connections, and runs the message once', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let connections = 0;
    const proxy = await startUnreliableProxy(app.url, () => {
      connections += 1;
      return connections > 9 ? {} : { cutAfter: 330 };
    });
    const parley = await pageClient('user-2', proxy.url);
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
    const before = app.upstream.requests.length;
    app.upstream.script(({ say, end }) => {
      for (const word of words) say(word);
      end();
    });
    const deltas = await Array.fromAsync(parley.chatStream(bot, { message: 'Hi' }));
    app.upstream.script(hello);
    vi.restoreAllMocks();
    expect(deltas.join('')).toBe(words.join(''));
    expect(proxy.faults()).toBe(9);
    expect(app.upstream.requests.length).toBe(before + 1);
    expect(new Set(proxy.requests)).toEqual(new Set(['POST /graphql/stream']));
  });

  test('cancels its run when a loop breaks, or a whole reply is aborted', async () => {
    const parley = await pageClient('user-3');
    app.upstream.script(async ({ say, closed }) => {
      say('Once');
      await closed;
    });
    for await (const _delta of parley.chatStream(bot, { message: 'Hi' })) break;
    const statuses = async () =>
      (await app.prisma.run.findMany({ where: { botId: bot, sessionId: 'user-3' } })).map(
        (run) => run.status,
      );
    await expect.poll(statuses).toEqual(['CANCELLED']);
    const abortion = new AbortController();
    const chat = parley.chat(bot, { message: 'Hi' }, { signal: abortion.signal });
    await expect.poll(async () => (await statuses()).toSorted()).toEqual(['CANCELLED', 'RUNNING']);
    abortion.abort(new Error('mine'));
    await expect(chat).rejects.toThrow('mine');
    await expect.poll(statuses).toEqual(['CANCELLED', 'CANCELLED']);
    app.upstream.script(hello);
  });

  test('has the errors of REST', async () => {
    const parley = await pageClient('user-4');
    const errorOf = (call: Promise<unknown>): Promise<ParleyError> =>
      call.then(
        () => expect.unreachable(),
        (error) => error,
      );
    expect(await errorOf(parley.chat(bot, { message: '' }))).toMatchObject({
      name: 'InvalidRequestError',
      status: 400,
      code: 'invalid_request',
      requestId: expect.stringMatching(/^req_/),
    });
    const other = await tenant.bot();
    const refused = { name: 'PermissionError', code: 'bot_access_denied', status: 403 };
    expect(await errorOf(parley.chat(other, { message: 'Hi' }))).toMatchObject(refused);
    const stream = parley.chatStream(other, { message: 'Hi' });
    expect(await errorOf(stream.finalReply())).toMatchObject(refused);
    const unknown = new Parley({ sessionToken: 'no.such.token', baseUrl: app.url });
    expect(await errorOf(unknown.chat(bot, { message: 'Hi' }))).toMatchObject({
      name: 'AuthenticationError',
      code: 'invalid_api_key',
    });
    app.upstream.script(({ response }) => void response.writeHead(400).end());
    const failed = { name: 'RunError', code: 'model_error', runId: expect.stringMatching(/^run_/) };
    expect(await errorOf(parley.chat(bot, { message: 'Hi' }))).toMatchObject(failed);
    const failing = parley.chatStream(bot, { message: 'Hi' });
    expect(await errorOf(failing.finalReply())).toMatchObject(failed);
    app.upstream.script(hello);
  });

  test('does nothing but chat', async () => {
    const parley = await pageClient('user-5');
    const calls = [
      () => parley.execute(bot, { prompt: 'Hi' }),
      () => parley.executeStream(bot, { prompt: 'Hi' }),
      () => parley.deploy(bot, { source: '' }),
      () => parley.rollback(bot, 'dep_1'),
      () => parley.deployments(bot),
      () => parley.runs(bot),
      () => parley.run(bot, 'run_1'),
      () => parley.runEvents(bot, 'run_1'),
      () => parley.cancel(bot, 'run_1'),
    ];
    for (const call of calls) expect(call).toThrow('A session token can only chat.');
  });
});
