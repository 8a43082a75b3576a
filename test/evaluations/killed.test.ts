import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { installation } from '../helpers/installation.ts';
import { rounds } from '../helpers/rounds.ts';
import { type ServerProcess, startServer } from '../helpers/server.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

/** Each round kills a server once, at a random request to the model. */
const ROUNDS = rounds(1, 3);
const CASES = 12;
/** Cases of an evaluation at a time: a killed server loses at most these. */
const CONCURRENT = 4;
const apiKey = makeApiKey();

/** A request to the model: of the agent, or of the model that judges, about a message. */
type Asked = { kind: 'agent' | 'judge'; message: string };

let upstream: Upstream;
let asked: Asked[] = [];
/** Whether a request gets no answer, because the server is about to be killed. */
let isLast = (_asked: Asked) => false;
let options: Awaited<ReturnType<typeof installation>>;
let server: ServerProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.script(async ({ request, say, end, closed }) => {
    const { messages } = request.body;
    const system = messages[0]?.content ?? '';
    const last = messages.at(-1)?.content ?? '';
    const isJudge = system.startsWith('You check') || system.startsWith('You compare');
    const message = /(round \d+ )?case \d+/.exec(last)?.[0] ?? last;
    const one: Asked = { kind: isJudge ? 'judge' : 'agent', message };
    asked.push(one);
    if (isLast(one)) await closed;
    if (system.startsWith('You check')) say('{"reason": "It does.", "holds": true}');
    else if (isJudge) say('{"reason": "The same.", "better": "neither"}');
    else say(system.startsWith('New.') ? 'Yes.' : 'Yes, of course.');
    end();
  });
  options = await installation('evaluations', {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
  });
  server = await startServer(options);
});
afterAll(async () => {
  await server.stop('SIGTERM');
  await upstream.close();
});

const request = async (path: string, body?: object) => {
  const response = await fetch(`${server.url}/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json();
};
const ofBot = (path: string, body?: object) => request(`v1/bots/demo/${path}`, body);

/** Kills the server, and starts another one that continues its work. */
async function killAndStart() {
  expect(await server.stop('SIGKILL')).toBe('SIGKILL');
  const { DATABASE_URL } = options.env;
  // With PGlite, the next start expires the heartbeats of killed servers.
  if (DATABASE_URL) {
    const client = new pg.Client(DATABASE_URL);
    await client.connect();
    await client.query("UPDATE owners SET heartbeat_at = now() - interval '1 minute'");
    await client.end();
  }
  server = await startServer(options);
}

type Result = {
  name: string;
  verdict: string | null;
  attempts: { turns: { message: string }[] }[];
};
type Evaluation = { status: string; verdict: string; passed: number; results: Result[] };

const read = (id: string): Promise<Evaluation> => ofBot(`evaluations/${id}`);

const messageOf = ({ attempts }: Result) => attempts[0]?.turns[0]?.message ?? '';
const countOf = (message: string) => asked.filter((one) => one.message === message).length;

const testsWith = (expectation: string, prompt = 'New.') =>
  `agentlang 5 agent "Desk" { prompt "${prompt}" ${Array.from(
    { length: CASES },
    (_, index) => `test "t${index}" { user "case ${index}" expect ${expectation} }`,
  ).join('\n')} }`;

/** Starts an evaluation, kills the server at one of its requests, and waits until the next server has completed it. */
async function evaluateAcrossKill(body: object, kind: Asked['kind']) {
  asked = [];
  const reached = Promise.withResolvers<void>();
  const killAt = CONCURRENT + Math.ceil(Math.random() * (CASES - CONCURRENT));
  isLast = () => {
    if (asked.filter((one) => one.kind === kind).length < killAt) return false;
    reached.resolve();
    return true;
  };
  const { evaluation_id: id } = await ofBot('evaluations', body);
  await reached.promise;
  // The cases that have ended; some of the others may end until the server dies.
  const finished = (await read(id)).results.filter(({ verdict }) => verdict !== null);
  const counts = new Map(finished.map((one) => [messageOf(one), countOf(messageOf(one))]));
  isLast = () => false;
  await killAndStart();
  await expect.poll(async () => (await read(id)).status, { timeout: 120_000 }).toBe('completed');
  const ended = await read(id);
  expect(ended).toMatchObject({ verdict: 'passed', passed: CASES });
  expect(ended.results.map(({ attempts }) => attempts.length)).toEqual(Array(CASES).fill(1));
  expect(finished.length).toBeGreaterThan(0);
  for (const [message, count] of counts)
    expect([message, countOf(message)]).toEqual([message, count]);
  const repeated = ended.results.filter((one) => {
    const agent = asked.filter((a) => a.kind === 'agent' && a.message === messageOf(one));
    return agent.length > 1;
  });
  expect(repeated.length).toBeLessThanOrEqual(CONCURRENT);
}

const eachRound = Array.from({ length: ROUNDS }, (_, round) => round);

describe('a server that is killed during an evaluation loses and repeats no finished case', () => {
  test.each(eachRound)('while tests run (%i)', async () => {
    await evaluateAcrossKill({ agentlang: testsWith('reply contains "yes"') }, 'agent');
  });

  test.each(eachRound)('while a model judges (%i)', async () => {
    await evaluateAcrossKill({ agentlang: testsWith('reply judged "It agrees."') }, 'judge');
  });

  test.each(eachRound)('while recorded runs are repeated (%i)', async (round) => {
    await ofBot('deploy', { agentlang: 'agentlang 5 agent "Desk" { prompt "Old." }' });
    const runs = Array.from({ length: CASES }, (_, index) =>
      ofBot('execute', { prompt: `round ${round} case ${index}` }),
    );
    const ids = (await Promise.all(runs)).map(({ run_id }) => run_id);
    const agentlang = 'agentlang 5 agent "Desk" { prompt "New." }';
    const kind = round % 2 === 0 ? 'agent' : 'judge';
    await evaluateAcrossKill({ agentlang, tests: false, replay: { run_ids: ids } }, kind);
  });
});

test.each(eachRound)(
  'a server that is killed while a gate is decided decides it once, with one evaluation (%i)',
  async (round) => {
    const gate = 'mutation { updateBot(id: "demo", input: { gate: { tests: true } }) { id } }';
    expect((await request('graphql', { query: gate })).errors).toBeUndefined();
    const before = (await ofBot('evaluations?limit=100')).evaluations.length;
    asked = [];
    const answered = Promise.withResolvers<void>();
    isLast = () => {
      if (asked.length === CASES) answered.resolve();
      return false;
    };
    const source = testsWith('reply contains "yes"', `New. Round ${round}.`);
    const { deployment_id: id, status } = await ofBot('deploy', { agentlang: source });
    expect(status).toBe('pending');
    await answered.promise;
    // Before the last attempt is stored, or about when the gate is decided.
    const newest = async () => (await ofBot('evaluations?limit=1')).evaluations[0];
    if (Math.random() < 0.5)
      await expect.poll(async () => (await newest()).status).toBe('completed');
    await killAndStart();
    const deployment = async () => {
      const { deployments } = await ofBot('deployments?limit=1');
      return deployments[0];
    };
    await expect
      .poll(async () => (await deployment()).status, { timeout: 120_000 })
      .toBe('deployed');
    expect(await deployment()).toMatchObject({ deployment_id: id, active: true, parse_errors: [] });
    const { evaluations } = await ofBot('evaluations?limit=100');
    expect(evaluations.length).toBe(before + 1);
    expect(evaluations[0]).toMatchObject({ status: 'completed', passed: CASES });
    expect(asked.length).toBeLessThanOrEqual(CASES + CONCURRENT);
    const off = 'mutation { updateBot(id: "demo", input: { gate: null }) { id } }';
    expect((await request('graphql', { query: off })).errors).toBeUndefined();
  },
);
