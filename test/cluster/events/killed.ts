import { startServer } from '../../bench/child.ts';
import type { Event, Play } from '../event.ts';
import { copyPostgres, databaseUrl } from '../postgres.ts';
import { startRedis } from '../redis.ts';
import { BOT, startReplicas } from '../replicas.ts';

/** The model answers for a minute: deltas, characters of each, and milliseconds before each. */
const ANSWER = ['600', '5', '100'];
/** The promise of docs/operations.md, and 5 seconds for a busy machine. */
const FOUND_WITHIN_MS = 15_000 + 5_000;
const REQUEST_LIMIT_MS = 60_000;

/** A process that is killed in the middle of an answer, while the other one lives. */
export const playKilled: Play = async function* ({ template, env, apiKey }, scope) {
  const postgres = await copyPostgres(template, scope);
  const redis = await startRedis([], scope);
  const model = await startServer({
    file: 'paced-upstream.ts',
    args: ANSWER,
    ...scope,
  });
  const [killed, other] = await startReplicas(
    {
      ...env,
      DATABASE_URL: databaseUrl(postgres.port),
      REDIS_URL: redis.url,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_MODEL: 'bench',
    },
    scope,
  );
  if (!killed || !other) throw new Error('There are two processes.');

  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
  scope.stack.defer(() => left.abort());
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'x-session-id': 'killed',
  };
  const runs = `/v1/bots/${BOT}/runs`;
  const chat = async (url: string, message: string) => {
    const body = JSON.stringify({ message, stream: true });
    const init = { method: 'POST', headers, body, signal };
    const response = await fetch(`${url}/v1/bots/${BOT}/chat`, init);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return response;
  };

  const broken = await chat(killed.url, 'One');
  const runId = broken.headers.get('x-run-id');
  // The stream breaks off.
  const brokenOff = broken.text().catch(() => '');
  const reader = await fetch(`${other.url}${runs}/${runId}/events?after=0`, { headers, signal });
  const end = reader.text();
  const next = chat(other.url, 'Two');
  next.catch(() => {});

  const at = performance.now();
  process.kill(killed.pid, 'SIGKILL');
  await Promise.all([killed.closed, brokenOff]);
  const since = () => performance.now() - at;
  const [events, endedMs] = [await end, since()];
  await next;
  const foundMs = Math.max(endedMs, since());
  yield judgeKill(events, foundMs);
};

/** @param events that a reader at the other process got of the run. */
function judgeKill(events: string, foundMs: number): Event {
  const problems: string[] = [];
  if (!events.includes('"interrupted"')) problems.push('the run did not end as interrupted');
  if (foundMs > FOUND_WITHIN_MS)
    problems.push(`the session was free after ${Math.round(foundMs)} ms`);
  const seen = `its run ended, its session was free after ${(foundMs / 1_000).toFixed(1)} s`;
  return { name: 'a process is killed during an answer', seen, problems };
}
