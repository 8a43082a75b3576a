import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ALONE, BOTH, INSTALL, INTEGRATION, LONG, SLOW, SYSTEM, UNIT } from './test/projects.ts';
import { slowestTests } from './test/slowest-tests.ts';

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

/** Workers and their place among the groups of projects, which run one after the other. */
type Workers = { maxWorkers: number; sequence: { groupOrder: number } };
const cores = availableParallelism();
/** Tests in the process of their worker wait half of their time, for timers and PostgreSQL. */
const IN_PROCESS: Workers = { maxWorkers: Math.max(cores, 4), sequence: { groupOrder: 0 } };
/** One worker for each core: a system test starts processes of its own. */
const WITH_PROCESSES: Workers = { maxWorkers: cores, sequence: { groupOrder: 1 } };
/** Most of these tests are integration tests. */
const ON_PGLITE: Workers = { ...IN_PROCESS, sequence: { groupOrder: 2 } };

type Options = { workers: Workers; services?: Services; isolate?: boolean };

const project = (
  name: string,
  files: string[],
  { workers, services, isolate = false }: Options,
) => ({
  test: {
    name,
    include: TEST_LONG ? files.filter((file) => LONG.includes(file)) : files,
    pool: 'forks' as const,
    ...workers,
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

const system = { workers: WITH_PROCESSES, services };

export default defineConfig({
  test: {
    reporters: CI ? ['default', slowestTests] : ['default'],
    projects: [
      project('unit', UNIT, { workers: IN_PROCESS }),
      project('integration', INTEGRATION, { workers: IN_PROCESS, services }),
      project('slow', SLOW, { workers: IN_PROCESS, services }),
      project('system', SYSTEM, system),
      project('system, alone', ALONE, { ...system, isolate: true }),
      ...(TEST_LONG ? [] : [project('install', INSTALL, { ...system, services: EMBEDDED })]),
      ...(TEST_DATABASE_URL
        ? [project('system, embedded', BOTH, { workers: ON_PGLITE, services: EMBEDDED })]
        : []),
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
