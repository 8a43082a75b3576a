import { beforeAll, describe, expect, test } from 'vitest';
import { startProxy } from '../console/proxy.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { hello } from '../helpers/upstream.ts';
import { CTRL_C, CTRL_D, createUser, ENTER, UP, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let user: User;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url });
});

const runs = async (...line: string[]) =>
  JSON.parse((await user.parley(['runs', '--bot', bot, '--json', ...line])).stdout);

/** The messages of the user in the last request to the model. */
const lastMessages = () =>
  app.upstream.requests
    .at(-1)
    ?.body.messages.filter(({ role }) => role === 'user')
    .map(({ content }) => content);

/** Lets the model begin a reply and never end it. */
const beginReply = () =>
  app.upstream.script(async ({ say, closed }) => {
    say('A long ');
    say('reply');
    await closed;
  });

describe('parley chat', () => {
  test('sends one message from the line or a pipe, and streams the reply to stdout', async () => {
    app.upstream.script(hello);
    const said = await user.parley(['chat', bot, '--message', 'Hi', '--session', 'one']);
    expect(said).toEqual({ code: 0, stdout: 'Hello there.\n', stderr: '' });
    const piped = await user.parley(['chat', '--bot', bot, '-s', 'one'], {
      stdin: 'From a pipe\n',
    });
    expect(piped.stdout).toBe('Hello there.\n');
    expect(lastMessages()).toEqual(['Hi', 'From a pipe']);

    const lines = await user.parley(['chat', bot, '-m', 'Hi', '--json']);
    const events = lines.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const deltas = events.slice(0, -1);
    expect(deltas.map(({ type }) => type)).toEqual(deltas.map(() => 'delta'));
    expect(deltas.map(({ delta }) => delta).join('')).toBe('Hello there.');
    expect(events.at(-1)).toMatchObject({
      type: 'done',
      response: 'Hello there.',
      toolsCalled: [],
    });
    const whole = await user.parley(['chat', bot, '-m', 'Hi', '--json', '--no-stream']);
    expect(JSON.parse(whole.stdout)).toMatchObject({ response: 'Hello there.' });

    const empty = await user.parley(['chat', bot]);
    expect(empty).toMatchObject({ code: 2, stdout: '' });
    expect(empty.stderr).toContain('The message is empty.');
    expect((await user.parley(['chat', bot, '--bot', 'other', '-m', 'Hi'])).code).toBe(2);
  });

  test('fails with the reason when the run fails, and ends quietly when the reader is gone', async () => {
    app.upstream.script(({ response }) => void response.writeHead(400).end('{"error":{}}'));
    const failed = await user.parley(['chat', bot, '-m', 'Hi']);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(
      /^Error: The run failed: .+ Run parley trace run_\w+ for details\.\n$/,
    );
    app.upstream.script(({ say, end }) => {
      for (let line = 0; line < 2_000; line += 1) say(`line ${line}\n`);
      end();
    });
    const cut = await user.shell(`set -o pipefail; parley chat ${bot} -m Hi | head -1; echo $?`);
    expect(cut).toEqual({ code: 0, stdout: 'line 0\n0\n', stderr: '' });
  });

  test('is stopped by Ctrl-C: the run is cancelled on the server, and the exit code is 130', async () => {
    beginReply();
    const chat = user.terminal(['chat', bot, '--message', 'Hi', '--session', 'stopped']);
    await chat.shows('A long reply');
    chat.type(CTRL_C);
    expect(await chat.code()).toBe(130);
    await expect
      .poll(() => runs('--user', 'stopped'))
      .toMatchObject([{ status: 'cancelled', response: 'A long reply' }]);
    await expect.poll(app.upstream.openResponses).toBe(0);
  });
});

describe('a conversation in a terminal', () => {
  test('recalls messages by the arrow keys, and ends at Ctrl-D', async () => {
    app.upstream.script(hello);
    const chat = user.terminal(['chat', bot]);
    await chat.shows('Ctrl-D leaves.');
    await chat.shows('> ');
    chat.type(`First message${ENTER}`);
    await chat.shows('Hello there.');
    await chat.shows('> ');
    chat.type(UP + ENTER);
    await chat.shows('Hello there.');
    expect(lastMessages()).toEqual(['First message', 'First message']);
    await chat.shows('> ');
    chat.type(CTRL_D);
    expect(await chat.code()).toBe(0);
  });

  test('stops the reply at Ctrl-C, continues, and leaves at two', async () => {
    beginReply();
    const chat = user.terminal(['chat', bot, '--session', 'talk']);
    await chat.shows('> ');
    chat.type(`One${ENTER}`);
    await chat.shows('A long reply');
    chat.type(CTRL_C);
    await chat.shows('The reply was stopped.');
    await expect.poll(() => runs('--user', 'talk')).toMatchObject([{ status: 'cancelled' }]);
    app.upstream.script(hello);
    await chat.shows('> ');
    chat.type(`Two${ENTER}`);
    await chat.shows('Hello there.');
    await chat.shows('> ');
    chat.type(CTRL_C);
    await chat.shows('Press Ctrl-C again to leave.');
    chat.type(CTRL_C);
    expect(await chat.code()).toBe(130);
  });

  test('shows the control characters of a reply as text', async () => {
    app.upstream.script(({ say, end }) => {
      say('\x1b[2J\x1b]0;title\x07plain\x9b31m text');
      end();
    });
    const chat = user.terminal(['chat', bot, '-m', 'Hi']);
    expect(await chat.code()).toBe(0);
    expect(chat.raw()).toBe('^[[2J^[]0;title^Gplain<U+009B>31m text\r\n');
  });
});

describe('parley execute', () => {
  test('takes its prompt from the line or stdin, and queues a run', async () => {
    app.upstream.script(hello);
    const prompted = await user.parley(['execute', bot, '--prompt', 'Say hello.']);
    expect(prompted).toEqual({ code: 0, stdout: 'Hello there.\n', stderr: '' });
    const piped = await user.parley(['execute', bot, '--prompt', '-'], { stdin: 'From stdin' });
    expect(piped.stdout).toBe('Hello there.\n');
    expect(lastMessages()).toEqual(['From stdin']);
    expect((await user.parley(['execute', bot])).code).toBe(2);
    const queued = await user.parley(['execute', bot, '--prompt', 'Later.', '--background']);
    const id = queued.stdout.trim();
    expect(id).toMatch(/^run_\w+$/);
    await expect
      .poll(async () => JSON.parse((await user.parley(['run', id, '--json'])).stdout).status)
      .toBe('completed');
  });
});

describe('runs', () => {
  test('are traced with each model that was asked, and why it did not answer', async () => {
    const other = await tenant.bot('model "large-1" { fallback "small-1" }');
    app.upstream.script(({ request, response, say, end }) => {
      if (request.body.model === 'large-1') return void response.writeHead(404).end('{}');
      say('Done.');
      end();
    });
    const response = await tenant.chat(other, { message: 'Hi' });
    const { stdout } = await user.parley(['trace', response.headers.get('x-run-id') ?? '']);
    expect(stdout).toMatch(/^run_\w+ {2}completed {2}.* small-1 {2}/);
    expect(stdout).toMatch(/^ {4}chat large-1 +\d.* m?s +█+ {2}model_error$/m);
    expect(stdout).toMatch(/^ {4}chat small-1 +\d.* m?s +█+$/m);
  });

  test('are shown, traced and cancelled by their ID alone', async () => {
    app.upstream.script(hello);
    await user.parley(['chat', bot, '-m', 'Show me', '-s', 'shown']);
    const [{ runId }] = await runs('--user', 'shown', '--status', 'completed');
    const run = await user.parley(['run', runId]);
    expect(run.stdout).toContain('Input\nShow me\n');
    expect(run.stdout).toContain('Response\nHello there.\n');
    expect(run.stdout).toMatch(/^Finish +stop$/m);
    const trace = await user.parley(['trace', runId]);
    expect(trace.stdout).toMatch(/^run_\w+ {2}completed {2}.* tokens {2}ended by stop\n/);
    expect(trace.stdout).toMatch(/^ {2}send_to_model +\d.* m?s +█+$/m);
    const cancelled = await user.parley(['cancel', runId]);
    expect(cancelled.stdout).toContain('ended before it could be cancelled');
    for (const name of ['run', 'trace', 'cancel'])
      expect(await user.parley([name, 'run_unknown'])).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'Error: There is no run "run_unknown" that the key may read. List runs: parley runs.\n',
      });
    expect((await user.parley(['runs', '--bot', bot, '--limit', '0'])).code).toBe(2);
    expect((await user.parley(['runs', '--bot', bot, '--date', 'today'])).code).toBe(2);
  });

  test('are followed live until Ctrl-C, also after a lost connection', async () => {
    app.upstream.script(hello);
    const proxy = await startProxy(app.url);
    atTheEnd(proxy.close);
    const following = user.terminal(['runs', '--bot', bot, '--follow', '--limit', '1'], {
      env: { PARLEY_URL: proxy.url },
    });
    await following.shows('Following.');
    const seen = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      await seen.promise;
      say('Hello there.');
      end();
    });
    const chat = user.parley(['chat', bot, '-m', 'Follow me']);
    await expect.poll(following.screen).toMatch(/run_\w+ {2}running.*Follow me/);
    seen.resolve();
    await expect.poll(following.screen).toMatch(/run_\w+ {2}completed.*Follow me/);
    await chat;
    app.upstream.script(hello);
    proxy.cut();
    await following.shows('The connection was lost. Reconnecting…');
    await user.parley(['chat', bot, '-m', 'Missed meanwhile']);
    proxy.restore();
    await following.shows('Missed meanwhile');
    following.type(CTRL_C);
    expect(await following.code()).toBe(130);
  });
});
