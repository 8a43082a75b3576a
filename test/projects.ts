import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Which test files run where. Unit tests need no database. Integration tests call the app in the process of their worker.
 * Slow tests are unit and integration tests that take long. System tests start other processes or a browser, count the
 * objects of their process, or repeat integration tests on PGlite. All but the unit tests run on PostgreSQL and Redis where
 * these are given, else on PGlite. `npm test` runs the unit and integration tests, `npm run test:system` the others.
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
  'test/coordination/{looks,worker-lease}.test.ts',
  'test/start/idle.test.ts',
  'test/approvals/**',
  'test/evaluations/**',
  'test/runs/**/{effects,batches,begin,begin-turn,cancel,event-times,excerpts,export,fairness,feedback,killed,killed-stream,levels,list,lost-answers,queue,retention,latencies,statements,stats,text-search,totals,usage}.test.ts',
  'test/transfer/**',
  'test/schema/{measured-lists,read-budget,server}.test.ts',
  'test/command/{account-transfer,journey,operator-key,stats-rebuild}.test.ts',
  'test/{canary,journey}.test.ts',
];

/**
 * Files whose tests play outages, expiries, failures of Telegram, hostile input or lost processes, have very many requests or
 * rows, or execute the command. A third of the files takes four fifths of the time, so they run with the system tests.
 */
const TAKES_LONG = [
  'test/accounts/{account-end,live}.test.ts',
  'test/agent/{faults,hostile-model,prompt-limits}.test.ts',
  'test/approvals/{attempts,binding,ends,expiry,followers,follow-up,mcp,replicas}.test.ts',
  'test/channels/telegram/{approvers,chat,outcomes,pending,polling}.test.ts',
  'test/channels/web/{replicas,visits}.test.ts',
  'test/client/{ai-sdk,unreliable-network}.test.ts',
  'test/command/**',
  'test/coordination/worker-lease.test.ts',
  'test/deployments/{active,replicas}.test.ts',
  'test/evaluations/{gate,progress,replay}.test.ts',
  'test/execution/forgotten.test.ts',
  'test/growth/**',
  'test/hostile/**',
  'test/idempotency/**',
  'test/language/{adversarial,hostile-sources,pairs,properties}.test.ts',
  'test/model/{answer,openai}.test.ts',
  'test/model/check/test-model.test.ts',
  'test/openai/bounds.test.ts',
  'test/redaction/redact.test.ts',
  'test/rest/{bad-requests,fuzz}.test.ts',
  'test/runs/**/{cut-streams,effects,event-times,export,fairness,filter-indexes,follow,list,lost-answers,poll-failures,progress,queue,text-search,totals}.test.ts',
  'test/runs/stats/bounds.test.ts',
  'test/schema/{measured-lists,read-budget}.test.ts',
  'test/storage/**',
  'test/transfer/**',
  'test/transport/{answer-size,authorisation,bodies,borders,bounds,connection-drain,connections,console,console-session,edges,expired,field-authorisation,hostile,pages,rate-limit,refused-lookups,revoked,statements,websocket,websocket-arrival}.test.ts',
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

const needsDatabase = (file: string) => reaches(file, DATABASE);

export const SYSTEM = TEST_FILES.filter(
  (file) => needsDatabase(file) && startsProcess(file) && !ALONE.includes(file),
);

/** Files that run in the process of their worker. */
const IN_WORKER = TEST_FILES.filter((file) => !SYSTEM.includes(file) && !ALONE.includes(file));

const takesLong = globSync(TAKES_LONG);
export const SLOW = IN_WORKER.filter((file) => takesLong.includes(file));

const QUICK = IN_WORKER.filter((file) => !SLOW.includes(file));

export const UNIT = QUICK.filter((file) => !needsDatabase(file));

export const INTEGRATION = QUICK.filter(needsDatabase);

export const BOTH = globSync(ON_BOTH).filter(
  (file) => file.endsWith('.test.ts') && needsDatabase(file),
);

/** Files that `npm run test:long` runs with more rounds. */
export const LONG = TEST_FILES.filter((file) => importsOf(file).includes(ROUNDS));
