import { setTimeout } from 'node:timers/promises';
import { judge, type Play } from '../event.ts';
import {
  becomeStandby,
  copyPostgres,
  databaseUrl,
  type Postgres,
  promote,
  startStandby,
  stopStreaming,
} from '../postgres.ts';
import { startHaproxy } from '../proxies.ts';
import { startRedis } from '../redis.ts';
import { startReplicas } from '../replicas.ts';
import { startTraffic } from '../traffic.ts';

const OUTAGE_MS = 4_000;
/** How long a proxy still leads to the former primary, which is a standby. */
const WRONG_WAY_MS = 1_500;
/** How long transactions do not reach the standby before the failover. */
const LOST_MS = 1_500;
/** Every session of a client has a run that came back, which recovery has to end. */
const FORGOTTEN_WITHIN_MS = 60_000;
/** All runs that were active in the past of the new primary. */
const ACTIVE = 12;

/** A primary with a standby behind HAProxy, and two processes with Redis. */
export const playPostgres: Play = async function* ({ template, env, apiKey }, scope) {
  const [first, redis] = await Promise.all([copyPostgres(template, scope), startRedis([], scope)]);
  let primary = first;
  let standby = await startStandby(primary, scope);
  const proxy = await startHaproxy([primary.port, standby.port], scope);
  const services = { DATABASE_URL: databaseUrl(proxy.port), REDIS_URL: redis.url };
  const replicas = await startReplicas({ ...env, ...services }, scope);
  const urls = replicas.map(({ url }) => url);

  /** Clients before, during and after a change of the primary. */
  const play = async (change: (away: () => void) => Promise<Postgres>) => {
    const traffic = startTraffic(urls, apiKey, scope);
    await traffic.answers(1);
    const writable = await change(traffic.begin);
    traffic.over();
    await traffic.answers(2);
    return traffic.stop(writable);
  };

  const outage = await play(async (away) => {
    away();
    await proxy.pause();
    await setTimeout(OUTAGE_MS);
    await proxy.resume();
    return primary;
  });
  yield judge('outage of 4 s', outage);

  const switchOver = await play(async (away) => {
    away();
    await primary.stop();
    await promote(standby);
    await becomeStandby(primary, standby, scope);
    // Connections that are made now reach a standby, and the proxy keeps them.
    await setTimeout(WRONG_WAY_MS);
    await proxy.use(standby.port, { cut: false });
    return standby;
  });
  yield judge('planned switch-over', switchOver);
  [primary, standby] = [standby, primary];

  /** The primary crashes, and the standby takes its place. */
  const failOver = async (away: () => void) => {
    away();
    await primary.stop('SIGQUIT');
    await promote(standby);
    await proxy.use(standby.port, { cut: true });
    return standby;
  };

  await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (walreceiver)'");
  await primary.query('SELECT pg_reload_conf()');
  yield judge('synchronous failover', await play(failOver));

  const former = primary;
  primary = standby;
  await primary.query('ALTER SYSTEM RESET synchronous_standby_names');
  await primary.query('SELECT pg_reload_conf()');
  standby = await startStandby(primary, scope, former.port);
  const failover = await play(async (away) => {
    await stopStreaming(standby, primary, scope);
    // The standby does not get these answers, and has the runs that were active before.
    await setTimeout(LOST_MS);
    return failOver(away);
  });
  const event = judge('asynchronous failover, last transactions lost', failover, {
    failed: ACTIVE,
    lost: Number.POSITIVE_INFINITY,
    backWithinMs: FORGOTTEN_WITHIN_MS,
  });
  if (failover.lost === 0) event.problems.push('the event lost no transaction');
  yield event;
};
