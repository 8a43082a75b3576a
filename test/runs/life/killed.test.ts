import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { makeApiKey } from '../../../src/accounts/key-format.ts';
import { installation } from '../../helpers/installation.ts';
import { rounds } from '../../helpers/rounds.ts';
import { type ServerProcess, startServer } from '../../helpers/server.ts';
import { frames } from '../../helpers/stream.ts';
import { startUpstream, type Upstream } from '../../helpers/upstream.ts';

const RUNS = rounds(10, 50);
const databaseUrl = inject('databaseUrl');
const apiKey = makeApiKey();

let upstream: Upstream;
/** The prompts that the model received, in order. */
const prompts: string[] = [];
beforeAll(async () => {
  upstream = await startUpstream();
  // Replies with the number of user messages in the session. A prompt "Do not end" never gets an end.
  upstream.script(async ({ request, say, end, closed }) => {
    const messages = request.body.messages.filter(({ role }) => role === 'user');
    const last = messages.at(-1)?.content ?? '';
    prompts.push(last);
    say(`Answer ${messages.length}`);
    if (last.startsWith('Do not end')) await closed;
    end();
  });
});
afterAll(() => upstream.close());

/** Starts servers with the same settings and database. */
async function openInstallation() {
  const options = await installation('killed', {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
  });
  const { DATABASE_URL } = options.env;
  return {
    start: () => startServer(options),
    /** Lets the heartbeats of killed servers expire at once. With PGlite, the next start does that. */
    async expireHeartbeats() {
      if (!DATABASE_URL) return;
      const client = new pg.Client(DATABASE_URL);
      await client.connect();
      await client.query("UPDATE owners SET heartbeat_at = now() - interval '1 minute'");
      await client.end();
    },
  };
}

/** A client of a server. */
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

/** Completes a turn in each session, begins another one, and kills the server during these. */
async function killDuringRuns(server: ServerProcess, meanwhile = (_runIds: string[]) => {}) {
  const { chat, answer } = client(server);
  expect(await all((session) => answer(session, 'Hi'))).toEqual(await all(async () => 'Answer 1'));
  const runIds = await all(async (session) => {
    const response = await chat(session, 'Do not end', { accept: 'text/event-stream' });
    // The stream breaks off when the server dies.
    response.text().catch(() => {});
    return response.headers.get('x-run-id') ?? '';
  });
  meanwhile(runIds);
  expect(await server.stop('SIGKILL')).toBe('SIGKILL');
  return runIds;
}

/**
 * Checks that every run ended for all readers, and that every session continues after its last completed turn.
 * `recovery.test.ts` adds up how long that may take.
 */
async function expectRecovered(server: ServerProcess, runIds: string[]) {
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
    expect(ended.finishedAt).not.toBeNull();
  }
}

describe('a server that is killed during background runs', () => {
  test('retries its runs one at a time, after the queued ones', async () => {
    const { start, expireHeartbeats } = await openInstallation();
    const killed = await start();
    const before = prompts.length;
    const active = [
      await client(killed).enqueue('Do not end 1'),
      await client(killed).enqueue('Do not end 2'),
    ];
    await expect.poll(() => prompts.slice(before).sort()).toEqual(['Do not end 1', 'Do not end 2']);
    expect(await killed.stop('SIGKILL')).toBe('SIGKILL');
    await expireHeartbeats();

    const again = await start();
    const { enqueue, run } = client(again);
    const next = await enqueue('Hi');
    await expect.poll(async () => (await run(next)).status).toBe('COMPLETED');
    await expect.poll(() => prompts.length).toBe(before + 4);
    const statuses = await Promise.all(active.map(async (id) => (await run(id)).status));
    expect(statuses.sort()).toEqual(['QUEUED', 'RUNNING']);
    expect(await again.stop('SIGKILL')).toBe('SIGKILL');
  });
});

describe('a server that is killed during runs of many sessions', () => {
  test('keeps every completed turn, ends every run and releases every session after its restart', async () => {
    const { start, expireHeartbeats } = await openInstallation();
    const killed = await killDuringRuns(await start());
    await expireHeartbeats();
    const again = await start();
    await expectRecovered(again, killed);
    expect(await again.stop('SIGTERM')).toBe(0);
  });

  test.skipIf(!databaseUrl)('has its runs recovered by another replica', async () => {
    const { start } = await openInstallation();
    const other = await start();
    let reading: Promise<unknown[]>[] = [];
    const follow = (runIds: string[]) => {
      reading = runIds.map((runId) => client(other).events(runId, '0'));
    };
    await expectRecovered(other, await killDuringRuns(await start(), follow));
    for (const read of await Promise.all(reading)) {
      expect(read.at(-1)).toMatchObject({ event: 'done', status: 'failed' });
    }
    expect(await other.stop('SIGTERM')).toBe(0);
  });
});
