import { once } from 'node:events';
import { freePort } from '../../helpers/free-port.ts';
import type { Event, Play } from '../event.ts';
import { copyPostgres, databaseUrl } from '../postgres.ts';
import { type Scope, until } from '../programs.ts';
import { startRedis } from '../redis.ts';
import { launchReplica } from '../replicas.ts';

/** Long after an exit at once, and long before the end of `PARLEY_STARTUP_TIMEOUT`. */
const AT_ONCE_MS = 30_000;

/** PostgreSQL and Redis that are away when Parley starts. */
export const playStart: Play = async function* ({ template, env }, scope) {
  const postgres = await copyPostgres(template, scope);
  const redisPort = await freePort();
  const services = {
    DATABASE_URL: databaseUrl(postgres.port),
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
  };

  yield await refused(
    'a wrong password, an unknown database',
    [
      databaseUrl(postgres.port, { password: 'wrong' }),
      databaseUrl(postgres.port, { database: 'none' }),
    ].map((url) => ({ ...env, DATABASE_URL: url })),
    [/rejects the password of the user/, /has no database "none"/],
    scope,
  );

  await postgres.stop();
  yield await refused(
    'PostgreSQL away at the start for longer than 2 s',
    [{ ...env, ...services, PARLEY_STARTUP_TIMEOUT: '2' }],
    [/DATABASE_URL: cannot use the database/],
    scope,
  );

  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const { output } = launchReplica({ ...env, ...services, PORT: String(port) }, scope);
  const answers = (path: string, status: number, part: string) =>
    until(
      async () => {
        const response = await fetch(`${base}${path}`);
        return response.status === status && (await response.text()).includes(part);
      },
      `${path} to answer ${status} ${part}`,
      scope,
    );
  await answers('/healthz', 200, 'ok');
  await answers('/readyz', 503, 'PostgreSQL cannot be reached.');
  await postgres.start();
  await answers('/readyz', 503, 'Redis cannot be reached.');
  await startRedis([], scope, { port: redisPort });
  await answers('/readyz', 200, 'ready');
  const isLogged = /PostgreSQL cannot be reached. The start tries again for \d+ seconds/.test(
    output(),
  );
  yield {
    name: 'PostgreSQL and Redis away at the start',
    seen: 'alive, and ready after them',
    problems: isLogged ? [] : ['the log does not mention PostgreSQL'],
  };
};

/** Starts that must fail at once, each with a message. */
export async function refused(
  name: string,
  environments: Record<string, string>[],
  messages: RegExp[],
  scope: Scope,
): Promise<Event> {
  const problems: string[] = [];
  for (const [index, env] of environments.entries()) {
    await using stack = new AsyncDisposableStack();
    const startedAt = performance.now();
    const { child, output } = launchReplica(env, { ...scope, stack });
    const [code] = await once(child, 'close');
    if (code !== 1) problems.push(`the process ended with ${code}`);
    if (!messages[index]?.test(output())) problems.push(`the process printed: ${output()}`);
    if (performance.now() - startedAt > AT_ONCE_MS)
      problems.push('the process did not end at once');
  }
  return { name, seen: 'ends with a message', problems };
}
