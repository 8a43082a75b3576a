import { beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { streamChat } from '../helpers/stream.ts';

const MAX_PROMPT_BYTES = 4 * 1024 * 1024;
const TOO_LONG =
  'The prompt is longer than 1048576 characters with its values in place: send less context, or place it less often.';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** A prompt with as many templates as allowed, each of which inserts the context. */
const BOMB = `prompt "${'{{context}}'.repeat(1_000)}"`;
const context = { text: 'x'.repeat(2_000) };

const post = (path: string, body: object, headers = {}) =>
  fetch(`${app.url}/v1/bots/${path}`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Returns a function that returns the model requests since now. */
const watchRequests = () => {
  const before = app.upstream.requests.length;
  return () => app.upstream.requests.slice(before).map(({ body }) => body.messages);
};

const findRun = (id: string) => app.prisma.run.findUniqueOrThrow({ where: { id } });

describe('a prompt over 1 MiB with its values', () => {
  test('is refused before the model call, and the conversation continues', async () => {
    const bot = await tenant.bot(BOMB);
    const requests = watchRequests();
    const headers = { 'x-session-id': 's' };
    const response = await tenant.chat(bot, { message: 'Hi', context }, headers);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', message: TOO_LONG },
    });
    expect(requests()).toEqual([]);
    expect(await findRun(response.headers.get('x-run-id') ?? '')).toMatchObject({
      status: 'FAILED',
      errorCode: 'invalid_request',
      errorMessage: TOO_LONG,
    });
    expect((await tenant.chat(bot, { message: 'Again' }, headers)).status).toBe(200);
    expect(requests()[0]?.map(({ role }) => role)).toEqual(['system', 'user']);
  });

  test('is refused in the same way in streams and over GraphQL', async () => {
    const bot = await tenant.bot(BOMB);
    const streamed = await post(
      `${bot}/chat`,
      { message: 'Hi', context, stream: true },
      { accept: 'text/event-stream' },
    );
    expect(streamed.status).toBe(400);
    expect(await streamed.json()).toMatchObject({ error: { message: TOO_LONG } });
    const { errors } = await tenant.graphql(
      'mutation ($botId: ID!, $input: ChatInput!) { chat(botId: $botId, input: $input) { response } }',
      { botId: bot, input: { message: 'Hi', context } },
    );
    expect(errors).toMatchObject([
      { message: TOO_LONG, extensions: { code: 'INVALID_REQUEST', runId: expect.any(String) } },
    ]);
    const events = await streamChat(app, tenant, bot, { message: 'Hi', context });
    expect(events.at(-1)).toMatchObject({
      __typename: 'ChatFailed',
      code: 'INVALID_REQUEST',
      message: TOO_LONG,
    });
  });

  test('fails a background run without further attempts', async () => {
    const bot = await tenant.bot(BOMB);
    const requests = watchRequests();
    const response = await post(`${bot}/execute`, { prompt: 'Hi', context, background: true });
    expect(response.status).toBe(202);
    const { run_id: id } = (await response.json()) as { run_id: string };
    await expect.poll(async () => (await findRun(id)).status, { interval: 20 }).toBe('FAILED');
    expect(await findRun(id)).toMatchObject({
      errorCode: 'invalid_request',
      errorMessage: TOO_LONG,
      attempt: 1,
    });
    expect(requests()).toEqual([]);
  });

  test('cannot be deployed with too many templates', async () => {
    const source = agent(`prompt "${'{{context}}'.repeat(18_000)}"`);
    const bot = await tenant.bot(null);
    const response = await post(`${bot}/deploy`, { agentlang: source });
    expect(await response.json()).toMatchObject({
      status: 'failed',
      parse_errors: [
        expect.stringMatching(/expected at most 1000 templates in one text, found 18000 \[/),
      ],
    });
  });

  test('of an older deployment with too many templates is refused with the problem', async () => {
    const bot = await tenant.bot('');
    const id = makeId('dep');
    const source = agent(`prompt "${'{{context}}'.repeat(18_000)}"`);
    await app.prisma.deployment.create({
      data: {
        id,
        botId: bot,
        environment: 'PRODUCTION',
        status: 'DEPLOYED',
        source,
        diagnostics: [],
      },
    });
    await app.prisma.activeDeployment.update({
      where: { botId_environment: { botId: bot, environment: 'PRODUCTION' } },
      data: { deploymentId: id },
    });
    const response = await tenant.chat(bot, { message: 'Hi', context });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('bot_not_deployed');
    expect(error.message).toMatch(
      new RegExp(`"${id}" is not valid .*\\[too-many-references\\]: deploy`),
    );
  });
});

describe('the whole input of the model', () => {
  const size = (messages: { content: string }[]) =>
    messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);

  test('is refused if the prompt alone is over 4 MiB', async () => {
    const bot = await tenant.bot('');
    const requests = watchRequests();
    const response = await tenant.chat(bot, {
      message: 'Hi',
      context: { text: '<'.repeat(1_000_000) },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        code: 'invalid_request',
        message: expect.stringContaining(`larger than ${MAX_PROMPT_BYTES} bytes`),
      },
    });
    expect(requests()).toEqual([]);
  });

  test('has the latest history that fits in 4 MiB, starting with a user’s message', async () => {
    const bot = await tenant.bot('prompt "Limits"\nhistory last 500 messages');
    const allRequests = watchRequests();
    // The app also executes prompts that other tests left in the queue.
    const requests = () => allRequests().filter(([system]) => system?.content.startsWith('Limits'));
    const headers = { 'x-session-id': 's' };
    for (const letter of 'abcdef') {
      const message = letter.repeat(900_000);
      expect((await tenant.chat(bot, { message }, headers)).status).toBe(200);
    }
    const sent = requests().map((messages) => messages.map(({ content }) => content[0]).join(''));
    // The first letters of the prompt, of the past messages and replies ("Hello there."), and of the new message.
    expect(sent).toEqual(['La', 'LaHb', 'LaHbHc', 'LaHbHcHd', 'LbHcHdHe', 'LcHdHeHf']);
    for (const messages of requests()) expect(size(messages)).toBeLessThanOrEqual(MAX_PROMPT_BYTES);
  });

  test('records the first 20 missing paths in the trace', async () => {
    const paths = Array.from({ length: 30 }, (_, index) => `context.missing_${index}`);
    const bot = await tenant.bot(`prompt "${paths.map((path) => `{{${path}}}`).join('')}"`);
    const response = await tenant.chat(bot, { message: 'Hi' });
    const { spans } = await findRun(response.headers.get('x-run-id') ?? '');
    const missing = JSON.stringify(spans).match(/context\.missing_\d+/g);
    expect(missing).toEqual(paths.slice(0, 20));
  });
});
