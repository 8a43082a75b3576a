import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { answerTo, requestText } from '../helpers/wire.ts';

/**
 * Requests of clients, one a file, with `{key}` and `{bot}` in place of the key and the bot. The files in `recorded` are what
 * the packages sent: openai 3.22.1 for Python, and openai 7.55.0, ai 6.0.326 with its two providers and @langchain/openai
 * 1.5.8 for Node. The files in `described` are written after the documentation of programs that were not run.
 */
const NAMES = ['recorded', 'described'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder)).map((name) => `${folder}/${name}`),
);

let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  app.upstream.script(({ say, end }) => {
    say('{"city":');
    say('"Rome"}');
    end();
  });
});

function read(name: string) {
  const text = readFileSync(join(import.meta.dirname, name), 'utf8')
    .replaceAll('{key}', tenant.apiKey)
    .replaceAll('{bot}', bot);
  const [head = '', body = ''] = text.trimEnd().split('\n\n');
  const [line = '', ...fields] = head.split('\n');
  const headers = Object.fromEntries(fields.map((field) => field.split(': ')));
  return { line: line.replace(' HTTP/1.1', ''), headers, body };
}

describe('the request of a client gets its answer', () => {
  test.each(NAMES)('%s', async (name) => {
    const { line, headers, body } = read(name);
    const answer = await answerTo(app.url, requestText(line, headers, body));
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('Rome')]);
    const streams = JSON.parse(body).stream === true;
    expect(answer.headers.get('content-type')).toContain(
      streams ? 'text/event-stream' : 'application/json',
    );
    const end = line.includes('/responses') ? 'event: response.completed' : 'data: [DONE]';
    if (streams) expect(answer.body).toContain(end);
    const last = app.upstream.requests.at(-1)?.body.messages.at(-1);
    expect(last).toMatchObject({ role: 'user', content: expect.stringMatching(/\S/) });
  });
});
