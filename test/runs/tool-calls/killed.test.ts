import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeApiKey } from '../../../src/accounts/key-format.ts';
import { installation } from '../../helpers/installation.ts';
import { rounds } from '../../helpers/rounds.ts';
import { type ServerProcess, startServer } from '../../helpers/server.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import { startUpstream, type Upstream } from '../../helpers/upstream.ts';

/** Each round kills a server once, at a random request of one of the runs. */
const ROUNDS = rounds(3, 10);
const RUNS = 5;
const STEPS = 3;
const apiKey = makeApiKey();

let upstream: Upstream;
let site: Site;
/** The requests that the tool server has received: run, step and key. */
const effects: { name: string; key: string }[] = [];
/** Whether the tool server holds its response to the latest request. */
let isHeld = (_count: number) => false;
const held: ServerResponse[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  // Requests the effects of the run that the prompt names, one after the other.
  upstream.script(({ request, call, say, end }) => {
    const messages = request.body.messages;
    const run = messages.find(({ role }) => role === 'user')?.content;
    const step = messages.filter(({ role }) => role === 'tool').length;
    if (step < STEPS) return call(['shop_pay', { run, step }]);
    say('Done.');
    return end();
  });
  site = await startSite();
  site.handle(({ body, headers }, response) => {
    const { run, step } = JSON.parse(body);
    effects.push({ name: `${run} ${step}`, key: String(headers['idempotency-key']) });
    if (isHeld(effects.length)) held.push(response);
    else response.end('Paid.');
  });
});
afterAll(async () => {
  await upstream.close();
  await site.close();
});

const SOURCE = () => `agentlang 5
agent "Payer" { prompt "Pay." tools shop {
  capability pay "Pays." { input { run string  step integer } post "${site.origin}/pay" }
} }`;

const request = async ({ url }: ServerProcess, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const method = body ? 'POST' : 'GET';
  const response = await fetch(`${url}/v1/bots/demo/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
};

type EndedRun = {
  status: string;
  tool_calls: { status: string; id: string; arguments: { run: string; step: number } }[];
};

/** Ends the pause before the next attempt. With PGlite, the test waits for it. */
async function hurry(databaseUrl: string | undefined) {
  if (!databaseUrl) return;
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query("UPDATE runs SET available_at = now() WHERE status = 'QUEUED'");
  await client.end();
}

test('no effect is sent again after a server was killed: it is completed once, or unknown', async () => {
  const options = await installation('effects', {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
    PARLEY_ALLOWED_HOSTS: site.host,
  });
  let server = await startServer(options);
  const other = options.env.DATABASE_URL ? await startServer(options) : undefined;
  const deployed = await request(server, 'deploy', { agentlang: SOURCE() });
  expect(deployed.status).toBe('deployed');
  let unknown = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const killAt = effects.length + 1 + Math.floor(Math.random() * RUNS * STEPS);
    const reached = Promise.withResolvers<void>();
    // No later request has a response either until the server is killed.
    isHeld = (count) => {
      if (count >= killAt) reached.resolve();
      return count >= killAt;
    };
    const ids = await Promise.all(
      Array.from({ length: RUNS }, async (_, index) => {
        const execution = { prompt: `round ${round} run ${index}`, background: true };
        return (await request(server, 'execute', execution)).run_id as string;
      }),
    );
    await reached.promise;
    await server.stop('SIGKILL');
    isHeld = () => false;
    for (const response of held.splice(0)) response.end('Paid.');
    server = await startServer(options);
    const ended = async (id: string): Promise<EndedRun | undefined> => {
      await hurry(options.env.DATABASE_URL);
      const run: EndedRun = await request(server, `runs/${id}`);
      return ['queued', 'running'].includes(run.status) ? undefined : run;
    };
    for (const id of ids) {
      await expect.poll(() => ended(id), { timeout: 120_000 }).toBeDefined();
      const run = await ended(id);
      expect(run?.status).toBe('completed');
      const calls = run?.tool_calls ?? [];
      expect(calls.map(({ arguments: { step } }) => step)).toEqual([0, 1, 2]);
      for (const call of calls) {
        const name = `${call.arguments.run} ${call.arguments.step}`;
        const keys = effects.filter((effect) => effect.name === name).map(({ key }) => key);
        if (call.status === 'completed') expect(keys).toEqual([call.id]);
        else {
          expect(call.status).toBe('unknown');
          expect([[], [call.id]]).toContainEqual(keys);
          unknown += 1;
        }
      }
    }
  }
  // The request at which a server was killed had no response.
  expect(unknown).toBeGreaterThan(0);
  await server.stop('SIGTERM');
  await other?.stop('SIGTERM');
});
