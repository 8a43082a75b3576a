import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { freshDatabase } from '../helpers/database.ts';
import { dataDirectoryInUse, type ServerProcess, startServer } from '../helpers/server.ts';
import { frames } from '../helpers/stream.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

const RUNS = 50;
const databaseUrl = inject('databaseUrl');
const apiKey = makeApiKey();

let upstream: Upstream;
/** What the model was asked, in order. */
const asked: string[] = [];
beforeAll(async () => {
  upstream = await startUpstream();
  // Says how often it was asked in the session, and does not come to an end where it is told so.
  upstream.script(async ({ request, say, end, closed }) => {
    const said = request.body.messages.filter(({ role }) => role === 'user');
    const last = said.at(-1)?.content ?? '';
    asked.push(last);
    say(`Answer ${said.length}`);
    if (last.startsWith('Do not end')) await closed;
    end();
  });
});
afterAll(() => upstream.close());

/** Starts servers of one installation, each like the first. */
async function installation() {
  const env: Record<string, string> = {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
    PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
    ...(databaseUrl && { DATABASE_URL: await freshDatabase(databaseUrl, 'killed') }),
  };
  const dataDirectory = await dataDirectoryInUse();
  return () => startServer({ dataDirectory, env });
}

/** What a client asks of a server. */
function client({ url }: ServerProcess) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const chat = (session: number, message: string, more = {}) =>
    fetch(`${url}/v1/bots/demo/chat`, {
      method: 'POST',
      headers: { ...headers, 'x-session-id': `killed-${session}`, ...more },
      body: JSON.stringify({ message, stream: 'accept' in more }),
    });
  const answer = async (session: number, message: string) => {
    const response = await chat(session, message);
    return ((await response.json()) as { response?: string }).response;
  };
  const enqueue = async (prompt: string) => {
    const response = await fetch(`${url}/v1/bots/demo/execute`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ prompt, background: true }),
    });
    return ((await response.json()) as { run_id: string }).run_id;
  };
  const events = async (runId: string, after: string) =>
    frames(await fetch(`${url}/v1/bots/demo/runs/${runId}/events?after=${after}`, { headers }));
  const run = async (id: string) => {
    const query = `query ($id: ID!) { run(id: $id) { status error { code } finishedAt } }`;
    const body = JSON.stringify({ query, variables: { id } });
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    const { data } = (await response.json()) as { data: { run: EndedRun } };
    return data.run;
  };
  return { chat, answer, enqueue, events, run };
}

type EndedRun = { status: string; error: { code: string }; finishedAt: string };

const all = <T>(work: (session: number) => Promise<T>) =>
  Promise.all(Array.from({ length: RUNS }, (_, session) => work(session)));

/** Takes a turn in each session to its end, begins another one, and kills the server in the midst of them. */
async function killInTheMidst(server: ServerProcess, meanwhile = (_runIds: string[]) => {}) {
  const { chat, answer } = client(server);
  expect(await all((session) => answer(session, 'Hi'))).toEqual(await all(async () => 'Answer 1'));
  const runIds = await all(async (session) => {
    const response = await chat(session, 'Do not end', { accept: 'text/event-stream' });
    // What was streamed breaks off with the server.
    response.text().catch(() => {});
    return response.headers.get('x-run-id') ?? '';
  });
  meanwhile(runIds);
  const killedAt = Date.now();
  expect(await server.stop('SIGKILL')).toBe('SIGKILL');
  return { runIds, killedAt };
}

/**
 * Every run has ended for all who read it, within 30 seconds, and every session goes on where its last finished turn
 * left it.
 */
async function isWhole(
  server: ServerProcess,
  { runIds, killedAt }: { runIds: string[]; killedAt: number },
) {
  const { answer, events, run } = client(server);
  expect(await all((session) => answer(session, 'Again'))).toEqual(
    await all(async () => 'Answer 2'),
  );
  const ends = await Promise.all(
    runIds.flatMap((runId) => ['0', '1', '99'].map((after) => events(runId, after))),
  );
  for (const read of ends) {
    expect(read.at(-2)).toMatchObject({ event: 'error', error: { code: 'interrupted' } });
    expect(read.at(-1)).toMatchObject({ event: 'done', status: 'failed' });
  }
  for (const runId of runIds) {
    const ended = await run(runId);
    expect(ended).toMatchObject({ status: 'FAILED', error: { code: 'INTERRUPTED' } });
    expect(Date.parse(ended.finishedAt) - killedAt).toBeLessThan(30_000);
  }
}

describe('a server that is killed in the midst of background runs', () => {
  test('begins again what it was at, one after another, and what waits before that', async () => {
    const start = await installation();
    const killed = await start();
    const before = asked.length;
    const active = [
      await client(killed).enqueue('Do not end 1'),
      await client(killed).enqueue('Do not end 2'),
    ];
    await expect.poll(() => asked.slice(before).sort()).toEqual(['Do not end 1', 'Do not end 2']);
    expect(await killed.stop('SIGKILL')).toBe('SIGKILL');

    const again = await start();
    const { enqueue, run } = client(again);
    const next = await enqueue('Hi');
    await expect.poll(async () => (await run(next)).status).toBe('COMPLETED');
    await expect.poll(() => asked.length).toBe(before + 4);
    const statuses = await Promise.all(active.map(async (id) => (await run(id)).status));
    expect(statuses.sort()).toEqual(['QUEUED', 'RUNNING']);
    expect(await again.stop('SIGKILL')).toBe('SIGKILL');
  });
});

describe('a server that is killed in the midst of fifty runs', () => {
  test('has lost no finished turn, ends every run and frees every session when it is back', async () => {
    const start = await installation();
    const killed = await killInTheMidst(await start());
    const again = await start();
    await isWhole(again, killed);
    expect(await again.stop('SIGTERM')).toBe(0);
  });

  test.skipIf(!databaseUrl)('is cleared up after by another replica', async () => {
    const start = await installation();
    const other = await start();
    let reading: Promise<unknown[]>[] = [];
    const follow = (runIds: string[]) => {
      reading = runIds.map((runId) => client(other).events(runId, '0'));
    };
    await isWhole(other, await killInTheMidst(await start(), follow));
    for (const read of await Promise.all(reading)) {
      expect(read.at(-1)).toMatchObject({ event: 'done', status: 'failed' });
    }
    expect(await other.stop('SIGTERM')).toBe(0);
  });
});
