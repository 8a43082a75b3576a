import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createRunExport, type ExportPart } from '../../../src/runs/list/export.ts';
import { createRunList } from '../../../src/runs/list/list.ts';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { testDatabase } from '../../helpers/database.ts';
import { makeRuns, newestFirst } from '../../helpers/runs.ts';
import { followTurns } from '../../helpers/turns.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const EXPORT = `subscription ($bot: ID!, $filter: RunFilter, $format: ExportFormat!) {
  runExport(botId: $bot, filter: $filter, format: $format) { text rows done truncated }
}`;

/** Starts an export over SSE. */
const request = (bot: string, format: string, filter: object = {}, signal?: AbortSignal) =>
  fetch(`${app.url}/graphql/stream`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: EXPORT, variables: { bot, filter, format } }),
    signal: signal ?? null,
  });

/** The parts of an export. */
const partsOf = async (response: Response) => {
  const text = await response.text();
  return [...text.matchAll(/^data: ?(\{.*\})$/gm)].map(([, data = '']) => {
    const { data: event, errors } = JSON.parse(data);
    expect(errors).toBeUndefined();
    return event.runExport as ExportPart;
  });
};

const fileOf = (parts: ExportPart[]) => parts.map(({ text }) => text).join('');

describe('an export of runs', () => {
  test('has all runs that match, newest first, over many parts', async () => {
    const bot = await tenant.bot(null);
    const made = await makeRuns(
      app,
      bot,
      Array.from({ length: 450 }, (_, index) => ({
        createdAt: new Date(1_700_000_000_000 + index * 1_000),
        sessionId: index % 3 === 0 ? 'bo' : 'ada',
        input: index === 200 ? 'long '.repeat(200_000) : `Number ${index} 😀`,
      })),
    );
    const parts = await partsOf(await request(bot, 'JSON_LINES', { user: 'ada' }));
    const rows = fileOf(parts)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const expected = made.filter(({ sessionId }) => sessionId === 'ada').toSorted(newestFirst);
    expect(rows.map(({ run_id }) => run_id)).toEqual(expected.map(({ id }) => id));
    expect(rows.map(({ input }) => input)).toEqual(expected.map(({ input }) => input));
    expect(parts.every(({ text }) => text.length <= 256 * 1024)).toBe(true);
    expect(parts.at(-1)).toEqual({ text: '', rows: 300, done: true, truncated: false });
    expect(parts.slice(0, -1).some(({ done }) => done)).toBe(false);
  });

  test('writes CSV that quotes text and runs no formula', async () => {
    const bot = await tenant.bot(null);
    const inputs = [
      '=HYPERLINK("http://evil.example")',
      ' \t+1',
      '@SUM(A1)',
      '-2',
      '\r=1',
      '＝1',
      'a "quoted", text\r\nof two lines',
      'plain',
    ];
    await makeRuns(
      app,
      bot,
      inputs.map((input, index) => ({
        input,
        createdAt: new Date(1_700_000_000_000 - index),
        latencyMs: 5,
      })),
    );
    const file = fileOf(await partsOf(await request(bot, 'CSV')));
    const [header = '', ...lines] = file.split(/\r\n(?=run_|$)/);
    expect(header.split(',').slice(0, 2)).toEqual(['run_id', 'created_at']);
    const cells = [
      `"'=HYPERLINK(""http://evil.example"")"`,
      "' \t+1",
      "'@SUM(A1)",
      "'-2",
      `"'\r=1"`,
      "'＝1",
      '"a ""quoted"", text\r\nof two lines"',
      'plain',
    ];
    for (const [index, cell] of cells.entries()) expect(lines[index]).toContain(`,${cell},`);
    expect(lines[7]).toMatch(
      /^run_\w+,2023-\S+Z,,20\S+Z,completed,chat,production,api,,,,plain,,,,5,0,0,,,$/,
    );
  });

  test('lets other requests run after each statement', async () => {
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, Array(2_000).fill({}));
    const runExport = createRunExport({ ...app, runList: createRunList(await testDatabase()) });
    const turns = followTurns();
    const parts = await Array.fromAsync(
      runExport.start(
        { accountId: tenant.accountId, botId: bot, filter: {}, format: 'CSV' },
        {
          signal: new AbortController().signal,
          longRead: (read) => read(),
          search: (_filter, read) => read(),
        },
      ),
    );
    expect(parts.at(-1)).toMatchObject({ rows: 2_000, done: true });
    // A page of 100 runs takes two statements.
    expect(turns()).toBeGreaterThanOrEqual(40);
  });

  test('is truncated at the most runs of a file', async () => {
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, Array(5).fill({}));
    const runList = createRunList(await testDatabase());
    const runExport = createRunExport({ ...app, runList, maxRows: 3 });
    const parts = await Array.fromAsync(
      runExport.start(
        { accountId: tenant.accountId, botId: bot, filter: {}, format: 'JSON_LINES' },
        {
          signal: new AbortController().signal,
          longRead: (read) => read(),
          search: (_filter, read) => read(),
        },
      ),
    );
    expect(fileOf(parts).trimEnd().split('\n')).toHaveLength(3);
    expect(parts.at(-1)).toMatchObject({ rows: 3, done: true, truncated: true });
  });

  test('reads on only when its reader does, and ends when the reader leaves', async () => {
    const bot = await tenant.bot(null);
    await makeRuns(app, bot, Array(450).fill({}));
    let finds = 0;
    const list = createRunList(await testDatabase());
    const runList = {
      ...list,
      find: (...args: Parameters<typeof list.find>) => {
        finds += 1;
        return list.find(...args);
      },
    };
    const runExport = createRunExport({ ...app, runList });
    const start = (signal: AbortSignal) =>
      runExport.start(
        { accountId: tenant.accountId, botId: bot, filter: {}, format: 'JSON_LINES' },
        { signal, longRead: (read) => read(), search: (_filter, read) => read() },
      );
    const parts = start(new AbortController().signal);
    await parts.next();
    expect(finds).toBe(1);
    await parts.return(undefined);
    expect(finds).toBe(1);

    const leaving = new AbortController();
    const unread = [start(leaving.signal), start(leaving.signal)];
    expect(() => start(leaving.signal)).toThrow('This account already has 2 exports.');
    leaving.abort();
    expect(await Promise.all(unread.map((part) => part.next()))).toMatchObject([
      { done: true },
      { done: true },
    ]);
    expect((await Array.fromAsync(start(new AbortController().signal))).at(-1)?.rows).toBe(450);

    // The reader has left before the start, and never asks for a part.
    const late = [start(leaving.signal), start(leaving.signal)];
    await Promise.all(late.map((part) => part.return(undefined)));
    expect((await Array.fromAsync(start(new AbortController().signal))).at(-1)?.rows).toBe(450);
  });

  test('pauses while a client does not read, and ends when the client disconnects', async () => {
    const bot = await tenant.bot(null);
    const count = 750;
    await makeRuns(app, bot, Array(count).fill({}));
    await app.prisma.$executeRaw`UPDATE runs SET input = repeat('x', 40000) WHERE bot_id = ${bot}`;
    const spies = [vi.spyOn(PGlite.prototype, 'query'), vi.spyOn(pg.Client.prototype, 'query')];
    atTheEnd(vi.restoreAllMocks);
    /** The statements so far that find the next runs of the bot. */
    const finds = () =>
      spies
        .flatMap(({ mock }) =>
          mock.calls.map((call: unknown[]) => JSON.stringify(call.slice(0, 2))),
        )
        .filter((call) => call.includes('octet_length(input)') && call.includes(bot)).length;

    expect((await partsOf(await request(bot, 'JSON_LINES'))).at(-1)?.rows).toBe(count);
    const whole = finds();
    expect(whole).toBeGreaterThan(90);

    const leaving = new AbortController();
    const unread = await request(bot, 'JSON_LINES', {}, leaving.signal);
    expect((await partsOf(await request(bot, 'JSON_LINES'))).at(-1)?.rows).toBe(count);
    // What the unread response holds are the buffers of its connection.
    expect(finds() - 2 * whole).toBeLessThan((2 * whole) / 3);

    expect(unread.bodyUsed).toBe(false);
    leaving.abort();
    await expect.poll(() => app.openResponses()).toBe(0);
    const left = finds();
    // The account may have two exports at a time.
    const none = () => request(bot, 'JSON_LINES', { user: 'nobody' });
    for (const response of await Promise.all([none(), none()]))
      expect((await partsOf(response)).at(-1)).toMatchObject({ rows: 0, done: true });
    expect(finds()).toBe(left + 2);
  });

  test('requires the scope RUNS and access to the bot', async () => {
    const bot = await tenant.bot(null);
    const document = `subscription { runExport(botId: "${bot}", format: CSV) { text } }`;
    const codeOf = async (key: string) =>
      (await app.graphql(key, document)).errors?.[0]?.extensions.code;
    const chatting = await tenant.key({ scopes: ['CHAT', 'DEPLOY', 'ADMIN'] });
    expect(await codeOf(chatting)).toBe('INSUFFICIENT_SCOPE');
    expect(await codeOf((await app.tenant()).apiKey)).toBe('BOT_ACCESS_DENIED');
  });
});
