import { GraphQLError } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { GatewayError } from '../../src/errors/errors.ts';
import { MAX_ANSWER_BYTES } from '../../src/schema/admission/weight.ts';
import { makeId } from '../../src/text/ids.ts';
import { limitAnswer, measureAnswer } from '../../src/transport/answer-size.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { WAYS } from '../helpers/transports.ts';

/** JSON writes each of its characters as six, so this is 18 MiB for every client; a run's limit is 4 MiB. */
const FLOOD = '\u0001'.repeat(3 * 1024 * 1024);
const TOO_LARGE = {
  message: expect.stringMatching(/larger than 16 MiB\. Request fewer entries or fewer fields\./),
  extensions: { code: 'REQUEST_TOO_LARGE' },
};

let app: TestApp;
let tenant: Tenant;
let bot: string;
let runId: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  runId = makeId('run');
  await app.prisma.run.create({
    data: {
      ...{ id: runId, botId: bot, environment: 'PRODUCTION', kind: 'CHAT', status: 'COMPLETED' },
      ...{ channel: 'API', input: 'Hi', response: FLOOD, finishedAt: new Date() },
    },
  });
});

test.each([
  ['ASCII', 'x'],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['line ends', '\n'],
  ['control characters', '\u0001'],
  ['the last ASCII character', '\u007f'],
  ['two bytes', 'ü'],
  ['three bytes', '語'],
  ['the last unit', '\uffff'],
  ['pairs', '🦜'],
  ['first halves of pairs', '\ud83e'],
  ['second halves of pairs', '\udd9c'],
  ['halves in the wrong order', '\udd9c\ud83e'],
  ['halves beside other text', '\ud83ex\udd9c语'],
])('a result is counted exactly near the limit: %s', (_what, text) => {
  const long = text.repeat((3 * 1024 * 1024) / text.length);
  const bytesOf = (data: Record<string, unknown>) => measureAnswer({ data }).bytes;
  const json = (data: object) => Buffer.byteLength(JSON.stringify(data));
  const plain = { text: 'x'.repeat(3 * 1024 * 1024) };
  expect(bytesOf({ text: long }) - bytesOf(plain)).toBe(json({ text: long }) - json(plain));
});

describe('an answer of more than 16 MiB of JSON', () => {
  test.each(Object.keys(WAYS) as (keyof typeof WAYS)[])(
    'is an error in its place: %s',
    async (way) => {
      const query = `{ run(id: "${runId}") { id response } }`;
      const results = await WAYS[way](app, tenant.apiKey, { query });
      expect(results).toMatchObject([{ data: null, errors: [TOO_LARGE] }]);
      expect(results[0]?.errors).toHaveLength(1);
    },
  );

  test('is an error of REST', async () => {
    const response = await fetch(`${app.url}/v1/bots/${bot}/runs/${runId}`, {
      headers: tenant.headers,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'request_too_large' } });
  });

  test('is an error of a chat, whose run is stored', async () => {
    app.upstream.script(({ say, end }) => {
      for (let start = 0; start < FLOOD.length; start += 65_536)
        say(FLOOD.slice(start, start + 65_536));
      end();
    });
    const response = await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'flood' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'request_too_large', message: expect.stringContaining('has taken effect') },
    });
    const run = await app.prisma.run.findFirstOrThrow({
      where: { botId: bot, sessionId: 'flood' },
    });
    expect(run.status).toBe('COMPLETED');
  });

  test.each(['SSE', 'SSE on one connection', 'WebSocket'] as const)(
    'is an error of one event, and the subscription goes on: %s',
    async (way) => {
      const botId = await tenant.bot();
      const read = WAYS[way](app, tenant.apiKey, {
        query: `subscription { runEvents(runId: "${await floodedRun(botId)}") { ... on RunStarted { seq } ... on TextDelta { delta ${Array.from({ length: 20 }, (_, i) => `a${i}: delta`).join(' ')} } ... on ChatDone { seq } } }`,
      });
      const results = await read;
      expect(results.at(-1)).toMatchObject({ data: { runEvents: { seq: expect.any(Number) } } });
      expect(results.filter(({ errors }) => errors)).not.toEqual([]);
      for (const { errors } of results) if (errors) expect(errors).toMatchObject([TOO_LARGE]);
    },
  );

  /** A run with one delta of 150 KB, which is 900 KB of JSON. */
  async function floodedRun(botId: string): Promise<string> {
    app.upstream.script(({ say, end }) => {
      say(FLOOD.slice(0, 150_000));
      end();
    });
    const chat = await tenant.chat(botId, { message: 'Hi' });
    const { run_id } = (await chat.json()) as { run_id: string };
    return run_id;
  }
});

describe('the size of a result', () => {
  const isKept = (data: Record<string, unknown>) => limitAnswer({ data }).data === data;

  test.each<[string, Record<string, unknown>]>([
    ['of plain text', { text: 'x'.repeat(MAX_ANSWER_BYTES - 100) }],
    ['of text outside ASCII', { text: '漢'.repeat(MAX_ANSWER_BYTES / 3 - 100) }],
    ['of many short values', { list: Array(MAX_ANSWER_BYTES / 2 - 100).fill(1) }],
  ])('may be 16 MiB: %s', (_what, data) => {
    expect(isKept(data)).toBe(true);
  });

  test.each<[string, Record<string, unknown>]>([
    ['of plain text', { text: 'x'.repeat(MAX_ANSWER_BYTES) }],
    ['of escaped text', { text: '"'.repeat(MAX_ANSWER_BYTES / 2) }],
    ['of text outside ASCII', { text: '漢'.repeat(MAX_ANSWER_BYTES / 3) }],
    ['of long names', { list: Array(16).fill({ ['x'.repeat(1024 * 1024)]: 1 }) }],
    ['of many short values', { list: Array(MAX_ANSWER_BYTES / 2).fill(1) }],
    ['of nested values', { list: Array(16).fill([[{ a: { b: ['x'.repeat(1024 * 1024)] } }]]) }],
  ])('may not be larger: %s', (_what, data) => {
    expect(isKept(data)).toBe(false);
  });

  test('includes the errors and their paths', () => {
    const path = Array.from({ length: 20 }, () => 'a'.repeat(256));
    const originalError = new GatewayError('insufficient_scope', 'x'.repeat(100));
    const errors = Array.from(
      { length: 4_000 },
      () => new GraphQLError('x', { path, originalError }),
    );
    const { errors: kept = [] } = limitAnswer({ data: {}, errors: errors.slice(0, 100) });
    expect(kept).toHaveLength(100);
    expect(limitAnswer({ data: {}, errors })).toMatchObject({
      errors: [{ originalError: { code: 'request_too_large' } }],
    });
  });

  test('is counted without the whole of a far too large result', () => {
    let read = 0;
    const entry = {
      get text() {
        read += 1;
        return 'x'.repeat(1_000_000);
      },
    };
    expect(isKept({ list: Array(1_000).fill(entry) })).toBe(false);
    expect(read).toBeLessThan(50);
  });
});
