import { defineConfig } from 'vitest/config';
import { ALONE, BOTH, INSTALL, INTEGRATION, LONG, SYSTEM, UNIT } from './test/projects.ts';

const { CI, TEST_DATABASE_URL, TEST_REDIS_URL, TEST_LONG } = process.env;
for (const [service, name] of [
  ['PostgreSQL', 'TEST_DATABASE_URL'],
  ['Redis', 'TEST_REDIS_URL'],
] as const) {
  if (process.env[name]) continue;
  if (CI) throw new Error(`CI runs the tests on ${service} too: set ${name}.`);
  console.log(`Tests on ${service} are skipped: ${name} is not set.`);
}

type Services = { databaseUrl: string; redisUrl: string };
const EMBEDDED: Services = { databaseUrl: '', redisUrl: '' };

const project = (name: string, files: string[], services?: Services, isolate = false) => ({
  test: {
    name,
    include: TEST_LONG ? files.filter((file) => LONG.includes(file)) : files,
    pool: 'forks' as const,
    // The files of a worker share its modules and its database.
    isolate,
    setupFiles: ['test/setup.ts'],
    ...(services && { globalSetup: ['test/global-setup.ts'], provide: services }),
    // Workers and the servers that they start compile each module once.
    env: { NODE_COMPILE_CACHE: new URL('node_modules/.cache/compile', import.meta.url).pathname },
    // Long enough for the slowest machine, so a test that reaches it hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    experimental: { viteModuleRunner: false },
  },
});

const services = TEST_DATABASE_URL
  ? { databaseUrl: TEST_DATABASE_URL, redisUrl: TEST_REDIS_URL ?? '' }
  : EMBEDDED;

export default defineConfig({
  test: {
    // One worker for each core: a system test starts processes of its own.
    maxWorkers: '100%',
    projects: [
      project('unit', UNIT),
      project('integration', INTEGRATION, services),
      project('system', SYSTEM, services),
      project('system, alone', ALONE, services, true),
      ...(TEST_LONG ? [] : [project('install', INSTALL, EMBEDDED)]),
      ...(TEST_DATABASE_URL ? [project('system, embedded', BOTH, EMBEDDED)] : []),
    ],
  },
});

declare module 'vitest' {
  interface ProvidedContext {
    /** PostgreSQL's URL; empty: the embedded database. */
    databaseUrl: string;
    /** Redis' URL; empty: the tests on Redis are skipped. */
    redisUrl: string;
  }
}
