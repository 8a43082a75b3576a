import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { BEGIN, END } from '../../../src/runs/life/statements.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { cutError, withSql } from '../../helpers/lossy-database.ts';
import { linkPostgres } from '../../helpers/postgres.ts';
import { rounds } from '../../helpers/rounds.ts';
import { frames } from '../../helpers/stream.ts';
import type { Script } from '../../helpers/upstream.ts';

const CHATS = rounds(10, 50);
const IN_PARALLEL = 5;

/** A tenant with a bot, and requests to an app. */
async function clientOf(app: TestApp, other = app) {
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const path = (url: string) => `${url}/v1/bots/${bot}`;
  const post = (action: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${path(app.url)}/${action}`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return {
    tenant,
    bot,
    chat: (message: string) => post('chat', { message }),
    post,
    stream: (message: string) =>
      post('chat', { message, stream: true }, { accept: 'text/event-stream' }),
    events: (runId: string) =>
      fetch(`${path(other.url)}/runs/${runId}/events`, { headers: tenant.headers }),
    run: (id: string) =>
      app.prisma.run.findUniqueOrThrow({ where: { id }, include: { messages: true } }),
    runs: () => app.prisma.run.findMany({ where: { botId: bot }, include: { messages: true } }),
  };
}

const runIdOf = (response: Response) => response.headers.get('x-run-id') ?? '';
const lastOf = async (response: Response) => (await frames(response)).at(-1);

/** A script that sends text, and ends when the test calls `finish`. */
function held(): { script: Script; sent: Promise<void>; finish: () => void } {
  const sent = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  const script: Script = async ({ say, end }) => {
    say('Hello.');
    sent.resolve();
    await finished.promise;
    end();
  };
  return { script, sent: sent.promise, finish: finished.resolve };
}

/** Two chats whose model has sent its text, one of them streamed. They end when the test calls `finish`. */
async function heldChats(app: TestApp) {
  const { chat, stream, runs } = await clientOf(app);
  const { script, finish } = held();
  app.upstream.script(script);
  const [json, streamed] = [chat('Hi'), stream('Hi')];
  await expect.poll(app.upstream.openResponses).toBe(2);
  await streamed;
  /** Checks that both clients and both rows have the whole reply. */
  const expectWhole = async () => {
    expect((await json).status).toBe(200);
    expect(await lastOf(await streamed)).not.toHaveProperty('status');
    const whole = { status: 'COMPLETED', response: 'Hello.', messages: [{}, {}] };
    expect(await runs()).toMatchObject([whole, whole]);
  };
  return { finish, expectWhole };
}

/** Chats whose stored ends lost their responses, half of them streamed. Each client must receive the content of the row. */
async function expectStoredEnds(app: TestApp, other: TestApp) {
  const { chat, stream, events, runs } = await clientOf(app, other);
  for (let index = 0; index < CHATS; index += IN_PARALLEL) {
    const sent = Array.from({ length: IN_PARALLEL }, async (_, of) => {
      const message = `Hi ${index + of}`;
      if ((index + of) % 2 === 0) {
        const answer = await chat(message);
        expect([answer.status, await answer.json()]).toEqual([
          200,
          expect.objectContaining({ response: 'Hello there.' }),
        ]);
        return;
      }
      const streamed = await stream(message);
      const live = events(runIdOf(streamed));
      for (const read of [await lastOf(streamed), await lastOf(await live)]) {
        expect(read).toEqual({
          event: 'done',
          run_id: runIdOf(streamed),
          latency_ms: expect.any(Number),
        });
      }
    });
    await Promise.all(sent);
  }
  const stored = await runs();
  expect(stored).toHaveLength(CHATS);
  for (const { id, status, input, messages } of stored) {
    expect(status).toBe('COMPLETED');
    const texts = messages.map(({ role, text }) => `${role} ${text}`).sort();
    expect(texts).toEqual(['ASSISTANT Hello there.', `USER ${input}`]);
    expect(await lastOf(await events(id))).not.toHaveProperty('status');
  }
}

describe('a run whose end was stored, though the response was lost', () => {
  test('ends for its client and all readers as stored', async () => {
    const known = new Set<string>();
    const database = withSql(await testDatabase(), async ({ statement, json, run }) => {
      const rows = await run();
      if (statement !== END) return rows;
      const keys: string[] = JSON.parse(json).map(({ key }: { key: string }) => key);
      const isNew = keys.some((key) => !known.has(key));
      for (const key of keys) known.add(key);
      if (isNew) throw cutError();
      return rows;
    });
    await expectStoredEnds(await startApp({ database }), await startApp());
    expect(known.size).toBe(CHATS);
  });

  test.skipIf(!inject('databaseUrl'))(
    'ends as stored when the network loses the response',
    async () => {
      const link = await linkPostgres();
      const app = await startApp({ database: link.database });
      const lost = link.loseAnswers(END.name);
      const { chat, runs } = await clientOf(app, await startApp());
      const answer = chat('Hi');
      await expect.poll(lost).toBeGreaterThan(3);
      link.restore();
      expect((await answer).status).toBe(200);
      expect(await runs()).toMatchObject([{ status: 'COMPLETED', messages: [{}, {}] }]);
    },
  );

  test('ends as stored when the driver fails with an unknown error', async () => {
    let broken = 0;
    const database = withSql(await testDatabase(), async ({ statement, run }) => {
      const rows = await run();
      if (statement !== END || broken > 0) return rows;
      broken += 1;
      throw new Error('Unknown.');
    });
    const { chat, runs } = await clientOf(await startApp({ database }));
    const answer = await chat('Hi');
    expect([answer.status, broken]).toEqual([200, 1]);
    expect(await runs()).toMatchObject([{ status: 'COMPLETED', messages: [{}, {}] }]);
  });
});

describe('a database outage at the end of a run', () => {
  /** Ends a run in an outage that lasts for six attempts. */
  test.each(['chat', 'execute', 'stream', 'background'])(
    'delays the end, and does not fail it: %s',
    async (kind) => {
      let attempts = 0;
      const database = withSql(await testDatabase(), async ({ statement, run }) => {
        if (statement !== END) return run();
        attempts += 1;
        if (attempts <= 6) throw cutError();
        return run();
      });
      const app = await startApp({ database });
      const { post, stream, runs } = await clientOf(app);
      if (kind === 'background') {
        const queued = await post('execute', { prompt: 'Hi', background: true });
        expect(queued.status).toBe(202);
      } else if (kind === 'stream')
        expect(await lastOf(await stream('Hi'))).not.toHaveProperty('status');
      else {
        const body = kind === 'chat' ? { message: 'Hi' } : { prompt: 'Hi' };
        expect((await post(kind, body)).status).toBe(200);
      }
      await expect.poll(async () => (await runs())[0]).toMatchObject({ status: 'COMPLETED' });
      expect(attempts).toBe(7);
    },
  );

  test.skipIf(!inject('databaseUrl'))('does not lose the text of the run', async () => {
    const link = await linkPostgres();
    const app = await startApp({ database: link.database });
    const { finish, expectWhole } = await heldChats(app);
    const refused = link.cut();
    finish();
    // Several attempts at the end of the run, and far less than the 7 seconds after which its request fails.
    await expect.poll(refused).toBeGreaterThan(8);
    link.restore();
    await expectWhole();
  });
});

describe.skipIf(!inject('databaseUrl'))(
  'a database that changes its state during a failover',
  () => {
    test.each([
      [
        'is read-only',
        'SET default_transaction_read_only = on',
        'RESET default_transaction_read_only',
      ],
      ['refuses connections', 'ALLOW_CONNECTIONS false', 'ALLOW_CONNECTIONS true'],
    ])('delays the end of a run, and does not fail it: it %s', async (_, begin, end) => {
      const link = await linkPostgres();
      let refused = 0;
      const database = withSql(link.database, async ({ statement, run }) => {
        const answered = run();
        if (statement === END) answered.catch(() => (refused += 1));
        return answered;
      });
      const app = await startApp({ database });
      const { finish, expectWhole } = await heldChats(app);

      const url = new URL(inject('databaseUrl'));
      url.searchParams.set('options', '-c default_transaction_read_only=off');
      const operator = new pg.Client(url.href);
      await operator.connect();
      const [{ name = '' } = {}] = await app.prisma.$queryRaw<{ name: string }[]>`
      SELECT current_database() AS name`;
      const reconnect = () => {
        link.cut();
        link.restore();
      };
      try {
        await operator.query(`ALTER DATABASE "${name}" ${begin}`);
        reconnect();
        finish();
        await expect.poll(() => refused).toBeGreaterThan(4);
      } finally {
        await operator.query(`ALTER DATABASE "${name}" ${end}`);
        await operator.end();
      }
      reconnect();
      await expectWhole();
    });
  },
);

describe('a run that lost its owner in an outage', () => {
  test('ends as interrupted, as recovery stores it', async () => {
    const app = await startApp();
    const { stream, run } = await clientOf(app);
    const { script, sent, finish } = held();
    app.upstream.script(script);
    const streamed = await stream('Hi');
    await sent;
    await app.prisma.run.update({ where: { id: runIdOf(streamed) }, data: { ownerId: null } });
    finish();
    const read = await frames(streamed);
    expect(read.at(-2)).toMatchObject({ event: 'error', error: { code: 'interrupted' } });
    expect(read.at(-1)).toMatchObject({ event: 'done', status: 'failed' });
    await expect
      .poll(() => run(runIdOf(streamed)))
      .toMatchObject({ status: 'FAILED', errorCode: 'interrupted', messages: [] });
  });
});

describe('a run whose creation was stored, though the response was lost', () => {
  test.each(['chat', 'execute'])('continues: %s', async (kind) => {
    let lost = 0;
    const database = withSql(await testDatabase(), async ({ statement, run }) => {
      const rows = await run();
      if (lost > 0 || statement !== BEGIN) return rows;
      lost += 1;
      throw cutError();
    });
    const { post, runs } = await clientOf(await startApp({ database }));
    const answer = await post(kind, { message: 'Hi', prompt: 'Hi' });
    expect([answer.status, lost]).toEqual([200, 1]);
    expect(await runs()).toMatchObject([{ status: 'COMPLETED' }]);
  });
});
