import { defineConfig } from 'vitest/config';

const { CI, TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
for (const [service, name] of [
  ['PostgreSQL', 'TEST_DATABASE_URL'],
  ['Redis', 'TEST_REDIS_URL'],
] as const) {
  if (process.env[name]) continue;
  if (CI) throw new Error(`CI runs the tests on ${service} too: set ${name}.`);
  console.log(`Tests on ${service} are skipped: ${name} is not set.`);
}

/** Files that count the objects of their process, so each runs in a process of its own. */
const ALONE = [
  'test/runs/leaks.test.ts',
  'test/transport/many-subscriptions.test.ts',
  'test/transport/slow-reader.test.ts',
];

/** The whole suite for one database. Each worker opens its own database, which its test files share. */
const projects = (name: string, databaseUrl: string, redisUrl: string) => [
  project(name, databaseUrl, redisUrl, { exclude: ALONE, isolate: false }),
  project(`${name}, alone`, databaseUrl, redisUrl, { include: ALONE, isolate: true }),
];

const project = (
  name: string,
  databaseUrl: string,
  redisUrl: string,
  files: { include?: string[]; exclude?: string[]; isolate: boolean },
) => ({
  test: {
    name,
    include: ['test/**/*.test.ts'],
    pool: 'forks' as const,
    ...files,
    setupFiles: ['test/setup.ts'],
    globalSetup: databaseUrl ? ['test/teardown.ts'] : [],
    // Long enough for the slowest machine, so a test that reaches it hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    provide: { databaseUrl, redisUrl },
    experimental: { viteModuleRunner: false },
  },
});

export default defineConfig({
  test: {
    // One worker for each core: a test waits more than it computes.
    maxWorkers: '100%',
    projects: [
      ...projects('embedded', '', ''),
      ...(TEST_DATABASE_URL ? projects('services', TEST_DATABASE_URL, TEST_REDIS_URL ?? '') : []),
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
