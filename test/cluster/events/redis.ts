import { freePort } from '../../helpers/free-port.ts';
import { type Event, judge, type Play } from '../event.ts';
import { copyPostgres, databaseUrl } from '../postgres.ts';
import { type Scope, until } from '../programs.ts';
import {
  CERTIFICATE_FILE,
  MASTER,
  SENTINEL_PASSWORD,
  startRedis,
  startSentinel,
} from '../redis.ts';
import { BOT, launchReplica, startReplica, startReplicas } from '../replicas.ts';
import { startTraffic } from '../traffic.ts';
import { refused } from './start.ts';

/** Redis that fails over, and Redis that Parley cannot use. */
export const playRedis: Play = async function* ({ template, env, apiKey }, scope) {
  const postgres = await copyPostgres(template, scope);
  const settings = { ...env, DATABASE_URL: databaseUrl(postgres.port) };

  {
    await using stack = new AsyncDisposableStack();
    const inner = { ...scope, stack };
    const master = await startRedis([], inner);
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(master.port)], inner);
    const sentinel = await startSentinel(master, inner);
    const isLinked = async () => String(await replica.command('INFO')).includes('link_status:up');
    await until(isLinked, 'the replica to follow', scope);
    const knows = async () =>
      String(await sentinel.command('SENTINEL', 'REPLICAS', MASTER)).includes(String(replica.port));
    await until(knows, 'the Sentinel to know the replica', scope);
    const place = {
      REDIS_SENTINELS: `127.0.0.1:${sentinel.port}`,
      REDIS_MASTER_NAME: MASTER,
      REDIS_SENTINEL_PASSWORD: SENTINEL_PASSWORD,
    };
    const replicas = await startReplicas({ ...settings, ...place }, inner);
    const urls = replicas.map(({ url }) => url);
    const traffic = startTraffic(urls, apiKey, inner);
    await traffic.answers(1);
    traffic.begin();
    await master.stop('SIGKILL');
    traffic.over();
    const isPromoted = async () => String(await replica.command('INFO')).includes('role:master');
    await until(isPromoted, 'the Sentinel to promote the replica', scope);
    for (const url of urls) await readyz(url, 200, '"ready"', scope);
    await traffic.answers(2);
    const event = judge('Redis: failover by Sentinel', await traffic.stop(postgres));
    const [key] = (await replica.command('KEYS', '*windows:*')) as string[];
    if (!key) event.problems.push('no process counts in the new master');
    yield event;
  }

  {
    await using stack = new AsyncDisposableStack();
    const inner = { ...scope, stack };
    const master = await startRedis([], inner, { hasTls: true });
    const sentinelPort = await freePort();
    const launched = launchReplica(
      {
        ...settings,
        REDIS_URL: 'rediss://redis',
        REDIS_SENTINELS: `127.0.0.1:${sentinelPort}`,
        REDIS_MASTER_NAME: MASTER,
        REDIS_SENTINEL_PASSWORD: SENTINEL_PASSWORD,
        REDIS_SENTINEL_TLS: 'true',
        REDIS_CA_FILE: CERTIFICATE_FILE,
        PORT: String(await freePort()),
      },
      inner,
    );
    const isWaiting = async () =>
      /Redis cannot be reached. The start tries again/.test(launched.output());
    await until(isWaiting, 'the start to wait for the Sentinel', scope);
    await startSentinel(master, inner, { port: sentinelPort, hasTls: true });
    const isListening = async () => /listening on http/.test(launched.output());
    await until(isListening, 'the start to end', scope);
    const [, url = ''] = /listening on (http:\S+)/.exec(launched.output()) ?? [];
    await readyz(url, 200, '"ready"', scope);
    const status = await chat(url, apiKey);
    yield {
      name: 'Redis and Sentinel with TLS, the Sentinel away at the start',
      seen: 'ready after it',
      problems: status === 200 ? [] : [`a chat was answered with ${status}`],
    };
  }

  yield await refused(
    'Redis in cluster mode',
    [{ ...settings, REDIS_URL: (await startRedis(['--cluster-enabled', 'yes'], scope)).url }],
    [/REDIS_URL: cannot use the server at .*: Redis is in cluster mode/],
    scope,
  );

  await using stack = new AsyncDisposableStack();
  const inner = { ...scope, stack };
  const other = await startRedis([], inner);
  const redis = await startRedis([], inner);
  const { url } = await startReplica({ ...settings, REDIS_URL: redis.url }, inner);

  /** Changes Redis until the process says so, and chats meanwhile. */
  const play = async (
    name: string,
    change: string[],
    [status, part]: [status: number, part: string],
    back: string[],
  ): Promise<Event> => {
    await redis.command(...(change as [string]));
    await readyz(url, status, part, scope);
    const answer = await chat(url, apiKey);
    await redis.command(...(back as [string]));
    return {
      name,
      seen: `readyz ${status}: ${part}`,
      problems: answer === 200 ? [] : [`a chat was answered with ${answer}`],
    };
  };
  const config = (setting: string, value: string) => ['CONFIG', 'SET', setting, value];
  yield await play(
    'Redis that evicts keys',
    config('maxmemory-policy', 'allkeys-lru'),
    [200, 'maxmemory-policy is allkeys-lru'],
    config('maxmemory-policy', 'noeviction'),
  );
  yield await play(
    'Redis that becomes a replica',
    ['REPLICAOF', '127.0.0.1', String(other.port)],
    [503, 'Redis is a replica'],
    ['REPLICAOF', 'NO', 'ONE'],
  );
  yield await play(
    'Redis that is full',
    config('maxmemory', '1'),
    [503, 'Redis is full'],
    config('maxmemory', '0'),
  );
  yield await play(
    'Redis whose user may not execute scripts',
    ['ACL', 'SETUSER', 'default', '-@scripting'],
    [503, 'does not let this user execute scripts'],
    ['ACL', 'SETUSER', 'default', '+@all'],
  );
  await readyz(url, 200, '"ready"}', scope);
  const alone = await startReplica(settings, inner);
  const name = 'two processes, one without Redis';
  await readyz(alone.url, 200, 'Another process uses this database', scope);
  yield { name, seen: 'readyz 200 with a warning', problems: [] };
};

async function readyz(url: string, status: number, part: string, scope: Scope): Promise<void> {
  const answers = async () => {
    const response = await fetch(`${url}/readyz`);
    return response.status === status && (await response.text()).includes(part);
  };
  await until(answers, `/readyz to answer ${status} ${part}`, scope);
}

/** @returns the status of the answer. */
async function chat(url: string, apiKey: string): Promise<number> {
  const response = await fetch(`${url}/v1/bots/${BOT}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Hello' }),
  });
  await response.text();
  return response.status;
}
