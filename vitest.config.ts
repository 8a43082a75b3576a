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

/** What counts the objects of its process has one of its own: there are few then, and none of others' tests. */
const ALONE = [
  'test/runs/leaks.test.ts',
  'test/transport/many-subscriptions.test.ts',
  'test/transport/slow-reader.test.ts',
];

/** The whole suite, once for each database: a worker opens one of its own, and its files share it. */
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
    // Long enough for the slowest machine: a test that comes to it hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    provide: { databaseUrl, redisUrl },
    experimental: { viteModuleRunner: false },
  },
});

export default defineConfig({
  test: {
    // As many as the machine has cores: a test waits more often than it computes.
    maxWorkers: '100%',
    projects: [
      ...projects('embedded', '', ''),
      ...(TEST_DATABASE_URL ? projects('services', TEST_DATABASE_URL, TEST_REDIS_URL ?? '') : []),
    ],
  },
});

declare module 'vitest' {
  interface ProvidedContext {
    /** PostgreSQL's address; empty: the embedded database. */
    databaseUrl: string;
    /** Redis' address; empty: tests on it are skipped. */
    redisUrl: string;
  }
}
