import { setImmediate } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Parley } from '../../src/client/index.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { testRandom } from '../helpers/random.ts';
import { rounds } from '../helpers/rounds.ts';
import type { Random } from '../helpers/seeded-random.ts';
import { type Fault, startUnreliableProxy } from './unreliable-proxy.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
});

beforeEach(() => {
  // With full jitter, a random number of 0 means no wait.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  return () => vi.restoreAllMocks();
});

const DELTAS = ['Grüße, ', '👋', '\n', '"quoted" ', 'data: x\n\n', 'and ', 'the ', 'end.'];
const TEXT = DELTAS.join('');

/** Counts the model calls of each message, and writes the text. */
function countCalls(): Map<string, number> {
  const calls = new Map<string, number>();
  app.upstream.script(async ({ request, say, end }) => {
    const message = request.body.messages.at(-1)?.content ?? '';
    calls.set(message, (calls.get(message) ?? 0) + 1);
    for (const delta of DELTAS) {
      say(delta);
      await setImmediate();
    }
    end();
  });
  return calls;
}

function randomFault(random: Random): Fault {
  const isForwarded = random.int(0, 1) === 1;
  const shape = { pieces: random.int(1, 40), isDoubled: random.int(0, 1) === 1 };
  switch (random.pick(['none', 'none', 'status', 'lost', 'cut', 'cut'])) {
    case 'none':
      return shape;
    case 'status':
      return { status: random.pick([429, 500, 502, 503, 504]), isForwarded };
    case 'lost':
      return { cutAfter: 0, isForwarded };
    default:
      return { cutAfter: random.int(1, 600), ...shape };
  }
}

async function inParallel(count: number, work: (index: number) => Promise<void>) {
  const queue = Array.from({ length: count }).keys();
  const worker = async () => {
    for (const index of queue) await work(index);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

describe('an unreliable network', () => {
  const streams = rounds(24, 1_000);
  test(`lets ${streams} streams arrive whole, and each message run once`, async () => {
    const random = testRandom();
    const calls = countCalls();
    const proxy = await startUnreliableProxy(app.url, () => randomFault(random));
    const parley = new Parley({ apiKey: tenant.apiKey, baseUrl: proxy.url, maxRetries: 50 });
    await inParallel(streams, async (index) => {
      const message = `stream ${index}`;
      const stream = parley.chatStream(bot, { message });
      const deltas = await Array.fromAsync(stream);
      const { response, runId } = await stream.finalReply();
      expect([message, deltas.join(''), response]).toEqual([message, TEXT, TEXT]);
      expect(runId).toBe(stream.runId);
    });
    // About half of all connections have a fault. One run in fifty has fewer faults than half of the streams.
    expect(proxy.faults()).toBeGreaterThan(0);
    expect(calls.size).toBe(streams);
    expect([...new Set(calls.values())]).toEqual([1]);
  });

  const requests = rounds(12, 60);
  test(`lets ${requests} whole chats, prompts and deploys arrive once`, async () => {
    const random = testRandom();
    const calls = countCalls();
    const proxy = await startUnreliableProxy(app.url, () => randomFault(random));
    const parley = new Parley({ apiKey: tenant.apiKey, baseUrl: proxy.url, maxRetries: 50 });
    const source = 'agentlang 5\nagent "A" {\n  description "A"\n  prompt "A"\n}\n';
    const own = await tenant.bot(null);
    await inParallel(requests, async (index) => {
      const chat = await parley.chat(bot, { message: `chat ${index}` });
      const prompt = await parley.execute(bot, { prompt: `prompt ${index}` });
      expect([chat.response, prompt.response]).toEqual([TEXT, TEXT]);
      await parley.deploy(own, { source, message: `deploy ${index}` });
    });
    expect(calls.size).toBe(2 * requests);
    expect([...new Set(calls.values())]).toEqual([1]);
    const deployments = await Array.fromAsync(parley.deployments(own, { limit: 5 }));
    expect(new Set(deployments.map(({ message }) => message)).size).toBe(requests);
    expect(deployments.length).toBe(requests);
  });

  test('that cuts one stream fifty times delivers the whole text once', async () => {
    const words = Array.from({ length: 80 }, (_, index) => `word${index} `);
    const calls: string[] = [];
    app.upstream.script(({ request, say, end }) => {
      calls.push(request.body.messages.at(-1)?.content ?? '');
      for (const word of words) say(word);
      end();
    });
    let connections = 0;
    const proxy = await startUnreliableProxy(app.url, () => {
      connections += 1;
      if (connections > 50) return {};
      // An event of text has about 35 bytes, so a connection delivers one and a part of the next. The first event of a
      // run is longer.
      return { cutAfter: connections <= 2 ? 160 : 50 };
    });
    const parley = new Parley({ apiKey: tenant.apiKey, baseUrl: proxy.url });
    const deltas = await Array.fromAsync(parley.chatStream(bot, { message: 'fifty' }));
    expect(deltas.join('')).toBe(words.join(''));
    expect(proxy.faults()).toBe(50);
    expect(calls).toEqual(['fifty']);
    expect(proxy.requests.at(-1)).toMatch(/^GET .*\/events$/);
  });
});
