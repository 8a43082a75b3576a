import { defineConfig } from 'vitest/config';

const { CI, TEST_DATABASE_URL } = process.env;
if (CI && !TEST_DATABASE_URL) {
  throw new Error('CI runs the tests on PostgreSQL too: set TEST_DATABASE_URL.');
}
if (!TEST_DATABASE_URL) {
  console.log('Tests on PostgreSQL are skipped: TEST_DATABASE_URL is not set.');
}

/** The whole suite, once for each database: a worker opens one of its own, and its files share it. */
const project = (name: string, databaseUrl: string) => ({
  test: {
    name,
    include: ['test/**/*.test.ts'],
    pool: 'forks' as const,
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    provide: { databaseUrl },
    experimental: { viteModuleRunner: false },
  },
});

export default defineConfig({
  test: {
    projects: [
      project('embedded', ''),
      ...(TEST_DATABASE_URL ? [project('services', TEST_DATABASE_URL)] : []),
    ],
  },
});

declare module 'vitest' {
  interface ProvidedContext {
    /** PostgreSQL's address; empty: the embedded database. */
    databaseUrl: string;
  }
}
