import { type Event, judge, type Play } from '../event.ts';
import { copyPostgres, databaseUrl, type Postgres, ROLE } from '../postgres.ts';
import { startPgBouncer } from '../proxies.ts';
import { startRedis } from '../redis.ts';
import { createTenant, startReplicas } from '../replicas.ts';
import { startTraffic } from '../traffic.ts';

/** An empty database, which Parley migrates through the pooler. */
const EMPTY = 'empty';
/** Five hours ahead of UTC. */
const TIME_ZONE = 'Asia/Karachi';
/** No run of this database is older, on a slow machine either. A wrong zone shifts times by hours. */
const MAX_AGE_S = 3_600;

/** PgBouncer with its defaults, and with what makes it take and forget the settings of a connection. */
export const playPgBouncer: Play = async function* ({ template, env, operatorKey }, scope) {
  const postgres = await copyPostgres(template, scope);
  const redis = await startRedis([], scope);
  await postgres.query(`CREATE DATABASE ${EMPTY} OWNER ${ROLE}`);

  let apiKey: string | undefined;

  const play = async (name: string, port: number): Promise<Event> => {
    await using stack = new AsyncDisposableStack();
    const inner = { ...scope, stack };
    const url = databaseUrl(port, { database: EMPTY });
    const replicas = await startReplicas(
      { ...env, DATABASE_URL: url, REDIS_URL: redis.url },
      inner,
    );
    const urls = replicas.map((replica) => replica.url);
    apiKey ??= await createTenant(urls[0] ?? '', operatorKey);
    const traffic = startTraffic(urls, apiKey, inner);
    await traffic.answers(1);
    traffic.begin();
    traffic.over();
    await traffic.answers(2);
    const event = judge(name, await traffic.stop(postgres, EMPTY));
    const wrong = await wrongTimes(postgres);
    if (wrong > 0) event.problems.push(`${wrong} runs have a wrong time`);
    return event;
  };

  const transactions = await startPgBouncer(postgres.port, { mode: 'transaction' }, scope);
  yield await play('PgBouncer, transaction pooling', transactions);

  await postgres.query(`ALTER ROLE ${ROLE} SET TimeZone = '${TIME_ZONE}'`);
  const more = 'ignore_startup_parameters = options\ndefault_pool_size = 60';
  const sessions = await startPgBouncer(postgres.port, { mode: 'session', more }, scope);
  yield await play(`PgBouncer, session pooling, a role in ${TIME_ZONE}`, sessions);
};

/** Counts the runs that began in the future or long ago. */
async function wrongTimes(postgres: Postgres): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM runs
      WHERE created_at > now() OR created_at < now() - interval '${MAX_AGE_S} seconds'
        OR finished_at < created_at OR finished_at > now()`,
    [],
    EMPTY,
  );
  return row?.count ?? 0;
}
