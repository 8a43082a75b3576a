import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import type { Exchange, Script } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

/** Longer than the delay before a second attempt. */
const TIMEOUT_MS = 1_000;
/** Longer than any fault that is no timeout takes, even on a slow machine. */
const LONG_TIMEOUT_MS = 120_000;

type Ending = { status: number; code?: string; response?: string };

/** A fault of a model server, and how it ends the run. */
type Fault = { what: string; script: (call: number) => Script; ends: Ending };

const always =
  (script: Script): Fault['script'] =>
  () =>
    script;
/** Fails at the first call, and replies "Done." at the second. */
const atFirst =
  (script: Script): Fault['script'] =>
  (call) =>
    call === 1 ? script : done;

const done: Script = ({ say, end }) => {
  say('Done.');
  end();
};
const answers =
  (status: number, headers: Record<string, string> = {}, body = ''): Script =>
  ({ response }) =>
    void response.writeHead(status, headers).end(body);
const sendTextAndThen =
  (then: (exchange: Exchange) => unknown): Script =>
  async (exchange) => {
    exchange.say('Well');
    await then(exchange);
  };
const sendComments: Script = async ({ response, closed }) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => response.write(': wait\n\n'), 20);
  await closed;
  clearInterval(timer);
};

const EVENTS = { 'content-type': 'text/event-stream' };
const failed = { status: 500, code: 'model_error' };
const timedOut = { status: 500, code: 'model_timeout' };
const completed = { status: 200, response: 'Done.' };

const FAULTS: Fault[] = [
  {
    what: 'is busy once',
    script: atFirst(answers(429, { 'retry-after-ms': '50' })),
    ends: completed,
  },
  {
    what: 'is busy',
    script: always(answers(429, { 'retry-after': '30' })),
    ends: failed,
  },
  {
    what: 'is busy twice',
    script: always(answers(429, { 'retry-after-ms': '5' })),
    ends: failed,
  },
  {
    what: 'fails once',
    script: atFirst(answers(500, { 'retry-after-ms': '5' })),
    ends: completed,
  },
  {
    what: 'fails',
    script: always(answers(500, { 'retry-after-ms': '5' }, 'canary')),
    ends: failed,
  },
  {
    what: 'refuses',
    script: always(answers(400, {}, '{"error":{"message":"canary"}}')),
    ends: failed,
  },
  {
    what: 'never responds',
    script: always(async ({ closed }) => void (await closed)),
    ends: timedOut,
  },
  {
    what: 'stops responding',
    script: always(sendTextAndThen(({ closed }) => closed)),
    ends: timedOut,
  },
  { what: 'sends only comments', script: always(sendComments), ends: timedOut },
  { what: 'breaks off', script: always(sendTextAndThen(({ cut }) => cut())), ends: failed },
  {
    what: 'disconnects',
    script: always(sendTextAndThen(({ response }) => response.destroy())),
    ends: failed,
  },
  {
    what: 'ends without a finish reason',
    script: always(sendTextAndThen(({ response }) => response.end())),
    ends: failed,
  },
  {
    what: 'sends invalid JSON',
    script: always(sendTextAndThen(({ response }) => response.end('data: {"canary\n\n'))),
    ends: failed,
  },
  {
    what: 'sends invalid chunks',
    script: always(sendTextAndThen(({ response }) => response.end('data: 7\n\ndata: [1]\n\n'))),
    ends: failed,
  },
  {
    what: 'sends an error',
    script: always(
      sendTextAndThen(({ response }) => response.end('data: {"error":{"message":"canary"}}\n\n')),
    ),
    ends: failed,
  },
  {
    what: 'returns an HTML page',
    script: always(answers(200, { 'content-type': 'text/html' }, '<h1>canary</h1>')),
    ends: failed,
  },
  {
    what: 'returns JSON',
    script: always(answers(200, { 'content-type': 'application/json' }, '{"canary":1}')),
    ends: failed,
  },
  {
    what: 'returns an empty stream',
    script: always(answers(200, EVENTS)),
    ends: failed,
  },
  {
    what: 'calls a tool with invalid JSON',
    script: atFirst(({ call }) => call(['time_now', '{"a'])),
    ends: completed,
  },
  {
    what: 'calls a tool with a number',
    script: atFirst(({ call }) => call(['time_now', '7'])),
    ends: completed,
  },
  {
    what: 'calls an unknown tool',
    script: atFirst(({ call }) => call(['nothing', {}])),
    ends: completed,
  },
];

type Span = {
  spanId: string;
  parentId: string | null;
  name: string;
  durationMs: number;
  status: string;
  attributes: Record<string, unknown>;
};

const RUN = `query ($id: ID!) {
  run(id: $id) {
    status error { code message }
    trace { spans { spanId parentId name durationMs status attributes } }
  }
}`;

describe('a model server that', () => {
  test.each(FAULTS)(
    '$what ends the run as documented, with a complete trace',
    async ({ script, ends }) => {
      const timeoutMs = ends === timedOut ? TIMEOUT_MS : LONG_TIMEOUT_MS;
      const bot = await tenant.bot(`tools time\n  model "scripted" { timeout ${timeoutMs}ms }`);
      let call = 0;
      app.upstream.requests.length = 0;
      app.upstream.script((exchange) => {
        call += 1;
        return script(call)(exchange);
      });
      const response = await tenant.chat(bot, { message: 'Hi' });
      const text = await response.text();
      const { response: reply, error } = JSON.parse(text);
      expect({ status: response.status, code: error?.code, response: reply }).toEqual({
        code: undefined,
        response: undefined,
        ...ends,
      });
      expect(text).not.toContain('canary');

      const { data } = await tenant.graphql(RUN, { id: response.headers.get('x-run-id') });
      const { status, error: stored, trace } = data.run;
      expect(status).toBe(ends.code ? 'FAILED' : 'COMPLETED');
      expect(stored?.code).toBe(ends.code?.toUpperCase());
      const spans: Span[] = trace.spans;
      const ids = new Set(spans.map(({ spanId }) => spanId));
      expect(spans.map(({ name }) => name)).toEqual(
        expect.arrayContaining([
          'load_history',
          'inject_memory',
          'merge_context',
          'send_to_model',
          'chat scripted',
        ]),
      );
      for (const [index, { parentId, durationMs }] of spans.entries()) {
        if (index > 0) expect(ids).toContain(parentId);
        expect(durationMs).toBeGreaterThanOrEqual(0);
      }
      expect(spans[0]?.attributes['error.type']).toBe(ends.code);
      expect(spans[0]?.status).toBe(ends.code ? 'ERROR' : 'UNSET');
      for (const message of app.upstream.requests.at(-1)?.body.messages ?? []) {
        if (message.role === 'tool') expect(message.content).toMatch(/^Error: /);
      }
      await expect.poll(app.upstream.openResponses).toBe(0);
    },
  );
});
