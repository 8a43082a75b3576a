import { describe, expect, inject, test } from 'vitest';
import { createRunStats } from '../../src/runs/stats/stats.ts';
import { readConfig } from '../../src/start/config.ts';
import { databaseOf } from '../../src/start/configured-database.ts';
import type { Database } from '../../src/storage/database.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { installation } from '../helpers/installation.ts';
import { makeRuns } from '../helpers/runs.ts';
import { startServer } from '../helpers/server.ts';
import { createUser } from './terminal.ts';

const PERIOD = { from: new Date('2026-03-01'), to: new Date('2026-03-31') };

describe('parley stats rebuild', () => {
  test('corrects the totals of one bot or of all, and refuses an unknown bot', async () => {
    const options = await installation('stats_rebuild');
    const server = await startServer(options);
    atTheEnd(() => server.stop('SIGTERM').then(() => {}));
    const env = { ...options.env, PARLEY_DATA_DIR: options.dataDirectory };
    const user = await createUser(env);
    const rebuild = (...words: string[]) => user.parley(['stats', 'rebuild', ...words]);
    if (!inject('databaseUrl')) {
      const refused = await rebuild();
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toContain('another Parley process is using');
    }
    await server.stop('SIGTERM');
    const withDatabase = async (work: (database: Database) => Promise<unknown>) => {
      const database = await databaseOf(readConfig(env));
      await work(database);
      await database.close();
    };
    await withDatabase(async (database) => {
      const { prisma } = database;
      await makeRuns(database, 'demo', [
        { createdAt: PERIOD.from, promptTokens: 5 },
        { createdAt: new Date('2026-03-20'), status: 'FAILED' },
      ]);
      await prisma.runTotal.create({
        data: {
          botId: 'demo',
          unit: 'DAY',
          start: PERIOD.from,
          kind: 'EXECUTE',
          environment: 'STAGING',
          channel: 'WEB',
          status: 'COMPLETED',
          keyId: '',
          runs: 7,
          tokens: 7n,
          latencies: new Uint8Array(),
        },
      });
    });
    expect(await rebuild('--bot', 'nobody')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: There is no bot "nobody".\n',
    });
    expect(await rebuild('--bot', 'demo')).toEqual({
      code: 0,
      stdout: 'Rebuilt the statistics of 1 bots from 2 runs. Corrected totals: 1.\n',
      stderr: '',
    });
    const again = await rebuild('--json');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(again.stdout)).toEqual({ bots: 1, runs: 2, corrected: 0 });
    await withDatabase(async (database) => {
      const read = createRunStats(database);
      const counts = (await read.of(['demo'], PERIOD).counts())('demo')(PERIOD.from);
      expect(counts).toEqual({ runs: 2, failed: 1, tokens: 5 });
    });
  });
});
