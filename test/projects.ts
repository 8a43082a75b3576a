import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Which test files run where. Unit tests need no database. Integration tests call the app in the process of their worker.
 * System tests start other processes or a browser, count the objects of their process, or repeat integration tests on
 * PGlite. Integration and system tests run on PostgreSQL and Redis where these are given, else on PGlite.
 */
export const TEST_FILES = globSync('test/**/*.test.ts', {
  // Other projects' packages, which may hold tests, and the tests of the installation.
  exclude: ['test/clients/node_modules', 'test/install/*'],
}).sort();

/** The tests of the installation, which take minutes and download packages. `npm run test:install` runs them. */
export const INSTALL = globSync('test/install/*.test.ts').sort();

/** A file that reaches this one can open a database. */
const DATABASE = 'src/storage/database.ts';

/** A file that reaches one of these starts a process or a browser. */
const PROCESSES = ['test/helpers/server.ts', 'test/helpers/chromium.ts'];

/** A file that imports this one repeats its checks with random input. */
const ROUNDS = 'test/helpers/rounds.ts';

/** Files that count the objects of their process, so each runs in a separate process. */
export const ALONE = [
  'test/coordination/redis-memory.test.ts',
  'test/runs/life/leaks.test.ts',
  'test/transport/many-subscriptions.test.ts',
  'test/transport/slow-reader.test.ts',
];

/**
 * Files that run on both databases, because the databases may differ in what they test:
 * - SQL that Parley writes itself, beyond what Prisma generates;
 * - migrations, the data directory, and the first start;
 * - locks, killed processes and lost connections;
 * - a test that checks which database it has.
 */
const ON_BOTH = [
  'test/accounts/{account-end,audit-log,key-watchers}.test.ts',
  'test/channels/telegram/{approvers,chat,killed,outcomes,pending,polling,replicas}.test.ts',
  'test/deployments/history.test.ts',
  'test/storage/**',
  'test/channels/web/page.test.ts',
  'test/transport/clocks.test.ts',
  'test/idempotency/**',
  'test/sessions/**',
  'test/coordination/worker-lease.test.ts',
  'test/approvals/**',
  'test/evaluations/**',
  'test/runs/**/{effects,batches,begin,begin-turn,cancel,event-times,excerpts,export,fairness,feedback,killed,levels,list,lost-answers,queue,retention,latencies,statements,stats,text-search,totals,usage}.test.ts',
  'test/transfer/**',
  'test/schema/{measured-lists,read-budget,server}.test.ts',
  'test/command/{account-transfer,journey,operator-key,stats-rebuild}.test.ts',
  'test/{canary,journey}.test.ts',
];

const imports = new Map<string, string[]>();

/** The files that a file imports for more than their types. */
function importsOf(file: string): string[] {
  const known = imports.get(file);
  if (known) return known;
  const statements = readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\s(?!type\b)(?:[^'";]*?\sfrom\s)?\s*'(\.[^']+\.ts)'/gm,
  );
  const found = [...statements].map(([, path = '']) => join(dirname(file), path));
  imports.set(file, found);
  return found;
}

/** Whether a file imports another one, directly or through others. */
export function reaches(file: string, target: string, seen = new Set<string>()): boolean {
  if (file === target) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  return importsOf(file).some((next) => reaches(next, target, seen));
}

/** Whether a file starts a process or a browser, itself or by a helper. */
const startsProcess = (file: string) =>
  PROCESSES.some((target) => reaches(file, target)) ||
  /from 'node:child_process'/.test(readFileSync(file, 'utf8'));

export const UNIT = TEST_FILES.filter((file) => !reaches(file, DATABASE));

/** All files that need a database, but `ALONE`. */
const SHARED = TEST_FILES.filter((file) => !UNIT.includes(file) && !ALONE.includes(file));

export const SYSTEM = SHARED.filter(startsProcess);

export const INTEGRATION = SHARED.filter((file) => !SYSTEM.includes(file));

export const BOTH = globSync(ON_BOTH).filter(
  (file) => file.endsWith('.test.ts') && !UNIT.includes(file),
);

/** Files that `npm run test:long` runs with more rounds. */
export const LONG = TEST_FILES.filter((file) => importsOf(file).includes(ROUNDS));
