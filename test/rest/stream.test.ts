import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { answerTo, exchange, readAnswers, requestText } from '../helpers/wire.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

const streaming = () => ({
  ...tenant.headers,
  'content-type': 'application/json',
  accept: 'text/event-stream',
});
const message = '{"message": "Hi", "stream": true}';

/** Scripts a model that sends these texts. */
const scriptTexts = (texts: string[]) =>
  app.upstream.script((exchange) => {
    for (const text of texts) exchange.say(text);
    exchange.end();
  });

/** Texts that break naive framing: line ends of all kinds, embedded frames, other alphabets, escapes. */
const HARD = [
  'Line one\nline two\r\nline three\rline four',
  '\n\n',
  'data: {"event":"done"}\n\n',
  ': ping\n\nid: 7\nevent: x\nretry: 1\n\n',
  'quotes " and \\ and / and \u0000 and \u001f',
  '\u2028\u2029\u0085\ufeff',
  'żółć ユーザー 🧑‍🚀 e\u0301',
  '</script>',
];

describe('a streamed reply', () => {
  test('consists of frames of exactly `data: <json>` and an empty line, with any text', async () => {
    scriptTexts(HARD);
    for (const [line, body] of [
      [`POST /v1/bots/${bot}/chat`, message],
      [`POST /v1/bots/${bot}/execute`, '{"prompt": "Hi", "stream": true}'],
      [`POST /v1/bots/${bot}/chat/stream`, '{"message": "Hi"}'],
      [`GET /v1/bots/${bot}/chat/stream?message=Hi`, undefined],
    ] as const) {
      const {
        status,
        headers,
        body: text,
      } = await answerTo(app.url, requestText(line, streaming(), body));
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('x-accel-buffering')).toBe('no');
      const deltas = HARD.map((delta) => delta.replaceAll('\0', '\ufffd'));
      const frames = deltas.map((delta) => `data: ${JSON.stringify({ delta })}\n\n`);
      const run = headers.get('x-run-id');
      const done = `data: {"event":"done","run_id":"${run}","latency_ms":0}\n\n`;
      expect(text.replace(/"latency_ms":\d+/, '"latency_ms":0')).toBe(frames.join('') + done);
    }
  });

  test('of a run’s events has the same frames after a line `id: <number>`', async () => {
    scriptTexts(['One\n', 'two']);
    const run = (await tenant.chat(bot, { message: 'Hi' })).headers.get('x-run-id');
    const line = `GET /v1/bots/${bot}/runs/${run}/events`;
    const { body } = await answerTo(app.url, requestText(line, tenant.headers));
    expect(body.replace(/"latency_ms":\d+/, '"latency_ms":0')).toMatch(
      new RegExp(
        [
          `^id: 1\\ndata: \\{"event":"run_started","delta":"","run_id":"${run}","session_id":"ses_\\w+"\\}`,
          'id: 2\\ndata: \\{"delta":"One\\\\n"\\}',
          'id: 3\\ndata: \\{"delta":"two"\\}',
          `id: 4\\ndata: \\{"event":"done","run_id":"${run}","latency_ms":0\\}\\n\\n$`,
        ].join('\\n\\n'),
      ),
    );
  });

  test('keeps the connection open for the next request', async () => {
    scriptTexts(['Hello']);
    const kept = requestText(`POST /v1/bots/${bot}/chat`, {
      ...streaming(),
      connection: undefined,
      'content-length': String(message.length),
    });
    const last = requestText(`GET /v1/bots/${bot}/runs`, tenant.headers);
    const answers = readAnswers(await exchange(app.url, `${kept}${message}${last}`));
    expect(answers.map(({ headers }) => headers.get('content-type'))).toEqual([
      'text/event-stream',
      'application/json; charset=utf-8',
    ]);
  });

  test('over HTTP/1.0, without chunks, ends with its connection', async () => {
    scriptTexts(['Hello']);
    const text = requestText(`POST /v1/bots/${bot}/chat`, streaming(), message);
    const answer = await answerTo(app.url, text.replace('HTTP/1.1', 'HTTP/1.0'));
    expect(answer.headers.get('transfer-encoding')).toBeNull();
    expect(answer.body).toMatch(/^data: \{"delta":"Hello"\}\n\ndata: \{"event":"done".*\}\n\n$/);
  });
});
