import type { Redis as Client } from 'ioredis';

/** What a Redis server is, as far as Parley depends on it. */
export type RedisState = {
  /** Why Parley cannot use it, as one sentence; `undefined` if it can. Limits are then counted in the process. */
  problem: string | undefined;
  /** Whether the problem passes by itself or by the work of an operator. False for a server that Parley does not support. */
  isSupported: boolean;
  /** Risks, each as one sentence. */
  warnings: string[];
};

const CLUSTER = 'Redis is in cluster mode, which Parley does not support.';
const REPLICA = 'Redis is a replica and refuses writes.';
/** Parley's scripts and ioredis are tested from this version on. */
const OLDEST: [major: number, minor: number] = [6, 2];
const PROBE_MS = 60_000;
/** Writes a key, as the scripts of the limits do. */
const PROBE = "redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) return 1";

/**
 * The problem for each pattern in the message of a refused command. The first match counts. The message of a failed script
 * contains the message of its command.
 */
const REFUSALS: [RegExp, string][] = [
  [/\bOOM\b/, 'Redis is full and refuses writes. Raise its maxmemory.'],
  [/\bREADONLY\b/, REPLICA],
  [/\b(?:MOVED|CROSSSLOT|CLUSTERDOWN)\b/, CLUSTER],
  [/\bMISCONF\b/, 'Redis cannot store its data and refuses writes.'],
  [
    /\bNOPERM\b|\bACL failure\b|can't run this command/,
    'Redis does not let this user execute scripts.',
  ],
];

/**
 * Asks a Redis server for its version, role, mode and policy, and tries a script and a subscription.
 *
 * @throws the error of a connection that is lost.
 */
export async function checkRedis({
  client,
  subscriber,
  prefix,
}: {
  client: Client;
  subscriber: Client;
  prefix: string;
}): Promise<RedisState> {
  const info = await client.info().catch(refusal);
  const problem =
    problemIn(info) ??
    (await tryScript(client, `${prefix}probe`)) ??
    (await tryMessages(client, subscriber, `${prefix}probe`));
  const isSupported = problem !== CLUSTER && !isOld(info);
  return { problem, isSupported, warnings: warningsIn(info) };
}

function problemIn(info: string | Refusal): string | undefined {
  if (typeof info !== 'string') return undefined;
  if (isOld(info))
    return `Redis ${field(info, 'redis_version')} is older than ${OLDEST.join('.')}.`;
  if (field(info, 'redis_mode') === 'cluster') return CLUSTER;
  return field(info, 'role') === 'slave' ? REPLICA : undefined;
}

function isOld(info: string | Refusal): boolean {
  if (typeof info !== 'string') return false;
  const [major = 0, minor = 0] = field(info, 'redis_version').split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function warningsIn(info: string | Refusal): string[] {
  if (typeof info !== 'string')
    return ['Redis does not let this user execute INFO, so its version and policy are unknown.'];
  const policy = field(info, 'maxmemory_policy');
  if (policy === 'noeviction') return [];
  return [`Redis may delete limits: its maxmemory-policy is ${policy}, not noeviction.`];
}

async function tryScript(client: Client, key: string): Promise<string | undefined> {
  const answer = await client.eval(PROBE, 1, key, PROBE_MS).catch(refusal);
  if (!(answer instanceof Refusal)) return undefined;
  const [, sentence] = REFUSALS.find(([pattern]) => pattern.test(answer.message)) ?? [];
  return sentence ?? 'Redis rejects the script of the limits.';
}

async function tryMessages(
  client: Client,
  subscriber: Client,
  channel: string,
): Promise<string | undefined> {
  const subscribed = await subscriber.subscribe(channel).catch(refusal);
  const published = await client.publish(channel, '').catch(refusal);
  if (subscribed instanceof Refusal || published instanceof Refusal)
    return 'Redis does not let this user publish and subscribe.';
  await subscriber.unsubscribe(channel);
  return undefined;
}

/** An error that Redis sent as its answer. */
class Refusal extends Error {}

function refusal(error: Error): Refusal {
  if (error.name !== 'ReplyError') throw error;
  return new Refusal(error.message);
}

/** A field of the answer to `INFO`. */
function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
}
