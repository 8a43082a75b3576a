import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeApiKey } from '../../../src/accounts/key-format.ts';
import { installation } from '../../helpers/installation.ts';
import { testRandom } from '../../helpers/random.ts';
import { rounds } from '../../helpers/rounds.ts';
import { type ServerProcess, startServer } from '../../helpers/server.ts';
import { frames } from '../../helpers/stream.ts';
import { startUpstream, type Upstream } from '../../helpers/upstream.ts';

const KILLS = rounds(1, 10);
const RUNS = 8;
/** Between two words of a reply. */
const PACE_MS = 15;
/** A run begins this many words after the one before, so that all are in different phases. */
const APART = 6;
const apiKey = makeApiKey();
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
  // Says as many words as the last message asks for.
  upstream.script(async ({ request, response, say, end }) => {
    const count = Number(request.body.messages.at(-1)?.content);
    for (let word = 1; word <= count && !response.destroyed; word += 1) {
      say(`${word} `);
      await delay(PACE_MS);
    }
    end();
  });
});
afterAll(() => upstream.close());

/** The whole reply to a request for some words. */
const reply = (words: number) =>
  Array.from({ length: words }, (_, index) => `${index + 1} `).join('');

/** A streamed reply, as far as its client has received it. */
type Stream = { runId: string; words: number; received: string; isDone: boolean };

type Frame = { delta?: string; event?: string; status?: string };

/** Begins a chat, and reads its stream until it ends or breaks off. */
async function openStream({ url }: ServerProcess, words: number): Promise<Stream> {
  const response = await fetch(`${url}/v1/bots/demo/chat`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream' },
    body: JSON.stringify({ message: String(words), stream: true }),
  });
  const runId = response.headers.get('x-run-id') ?? '';
  const stream: Stream = { runId, words, received: '', isDone: false };
  const read = async () => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const complete = text.lastIndexOf('\n\n');
      const events = [...text.slice(0, complete + 2).matchAll(/^data: (.*)$/gm)];
      text = text.slice(complete + 2);
      for (const [, data = ''] of events) apply(stream, JSON.parse(data));
    }
  };
  read().catch(() => {});
  return stream;
}

function apply(stream: Stream, frame: Frame): void {
  stream.received += textOf(frame);
  if (frame.event === 'done') stream.isDone = true;
}

const textOf = ({ delta }: Frame) => delta ?? '';

/** The events of a run as a later reader receives them. */
async function replayed({ url }: ServerProcess, runId: string) {
  const path = `/v1/bots/demo/runs/${runId}/events?after=0`;
  const events = (await frames(await fetch(url + path, { headers }))) as Frame[];
  // The last frame of a completed run has no status.
  return { text: events.map(textOf).join(''), status: events.at(-1)?.status ?? 'completed' };
}

/** The stored text of each active run. Only PostgreSQL can be read beside the server. */
async function storedTexts(client: pg.Client | undefined): Promise<Map<string, string>> {
  if (!client) return new Map();
  const { rows } = await client.query<{ id: string; text: string }>(
    "SELECT run_id AS id, string_agg(response, '' ORDER BY from_seq) AS text FROM run_progress GROUP BY run_id",
  );
  return new Map(rows.map(({ id, text }) => [id, text]));
}

test('a server that is killed in any phase of long streams loses nothing that it has stored, and no end that a client has seen', async () => {
  const random = testRandom();
  const options = await installation('killed_stream', {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
  });
  const { DATABASE_URL } = options.env;
  const client = DATABASE_URL ? new pg.Client(DATABASE_URL) : undefined;
  await client?.connect();
  let server = await startServer(options);
  const statuses = new Set<string>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const streams: Stream[] = [];
    const wordsOfFirst = () => (streams[0]?.received ?? '').split(' ').length - 1;
    for (let run = 0; run < RUNS; run += 1) {
      streams.push(await openStream(server, random.int(60, 120)));
      await expect.poll(() => streams[0]?.isDone || wordsOfFirst() >= APART * run).toBe(true);
    }
    const awaited = random.pick([streams[0], ...streams.slice(1)]);
    const length = random.int(0, 100);
    await expect
      .poll(() => !awaited || awaited.isDone || awaited.received.length >= length)
      .toBe(true);
    const stored = await storedTexts(client);
    expect(await server.stop('SIGKILL')).toBe('SIGKILL');
    await client?.query("UPDATE owners SET heartbeat_at = now() - interval '1 minute'");
    server = await startServer(options);
    for (const { runId, words, isDone } of streams) {
      const { text, status } = await replayed(server, runId);
      statuses.add(status);
      if (isDone || status === 'completed') {
        expect([status, text]).toEqual(['completed', reply(words)]);
        continue;
      }
      expect(status).toBe('failed');
      expect(reply(words).startsWith(text)).toBe(true);
      expect(text.startsWith(stored.get(runId) ?? '')).toBe(true);
    }
  }
  // Every reply has at least 60 words, so the last one has not ended.
  expect(statuses).toContain('failed');
  expect(await server.stop('SIGTERM')).toBe(0);
  await client?.end();
});
