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

/** The whole suite, once for each database: a worker opens one of its own, and its files share it. */
const project = (name: string, databaseUrl: string, redisUrl: string) => ({
  test: {
    name,
    include: ['test/**/*.test.ts'],
    pool: 'forks' as const,
    isolate: false,
    setupFiles: ['test/setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    provide: { databaseUrl, redisUrl },
    experimental: { viteModuleRunner: false },
  },
});

export default defineConfig({
  test: {
    projects: [
      project('embedded', '', ''),
      ...(TEST_DATABASE_URL ? [project('services', TEST_DATABASE_URL, TEST_REDIS_URL ?? '')] : []),
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
