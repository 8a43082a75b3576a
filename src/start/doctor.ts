/**
 * Checks the requirements of a server with these settings, and prints the results as JSON. `parley doctor` runs it. It changes
 * nothing: it opens no embedded database and applies no migration. No result contains a password or a key.
 */
import { createServer } from 'node:net';
import type { ServerCheck } from '../coordination/server-state.ts';
import { StartupError } from '../errors/errors.ts';
import {
  type CheckResult,
  databaseChecks,
  failed,
  LIMIT_MS,
  machineChecks,
  nodeCheck,
  ok,
  runChecks,
  settingsCheck,
} from './checks.ts';
import { type Config, readConfig } from './config.ts';
import { checkModelServer } from './doctor-model.ts';
import { readSettings } from './env-file.ts';

async function checkAll(): Promise<ServerCheck[]> {
  let config: Config;
  let ignored: string | undefined;
  try {
    const settings = await readSettings();
    config = readConfig(settings.values);
    ignored = settings.warning;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const problems = error.message.split('\n').map((message) => ({
      name: 'Settings',
      ...failed(message, 'Correct it in the environment or in .env.'),
    }));
    return [nodeCheck(), ...problems];
  }
  const results = await runChecks([
    ...databaseChecks(config),
    ['Model server', () => checkModelServer(config, LIMIT_MS)],
    ['Port', () => checkPort(config)],
    ...machineChecks(config),
  ]);
  return [nodeCheck(), settingsCheck(ignored), ...results];
}

async function checkPort({ host, port }: Config): Promise<CheckResult> {
  const place = `${host}:${port}`;
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown error'));
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return ok(`${place} is free`);
  if (code !== 'EADDRINUSE')
    return failed(`cannot listen on ${place}: ${code}`, 'Set another HOST or PORT.');
  const version = await parleyAt(`http://${place}`);
  if (version !== undefined) return ok(`Parley ${version} is running on ${place}`);
  return failed(`another program listens on ${place}`, 'Stop that program, or set another PORT.');
}

async function parleyAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(LIMIT_MS) });
    const body: unknown = await response.json();
    const isParley = typeof body === 'object' && body !== null && 'version' in body;
    return isParley ? String(body.version) : undefined;
  } catch {
    return undefined;
  }
}

process.stdout.write(`${JSON.stringify(await checkAll())}\n`, () => process.exit());
