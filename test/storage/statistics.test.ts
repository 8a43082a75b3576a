import { PGlite } from '@electric-sql/pglite';
import { expect, test, vi } from 'vitest';
import { embed } from '../../src/storage/embedded.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { embeddedTemplate } from '../helpers/embedded-template.ts';

test('the embedded database analyzes a table when it has doubled, and without the words of texts', async () => {
  const { prisma, analyze, close } = await embed({ loadDataDir: await embeddedTemplate() });
  atTheEnd(close);
  const exec = vi.spyOn(PGlite.prototype, 'exec');
  atTheEnd(() => exec.mockRestore());
  const analyzed = async () => {
    exec.mockClear();
    await analyze?.();
    // Files of the same worker may have apps whose leases are renewed meanwhile.
    return exec.mock.calls.flatMap(([text]) => (text.startsWith('ANALYZE') ? [text] : []));
  };
  const insert = (count: number) => prisma.$executeRaw`
    INSERT INTO runs (id, bot_id, environment, kind, channel, status, input, response)
    SELECT gen_random_uuid()::text, 'bot', 'PRODUCTION', 'CHAT', 'API', 'COMPLETED', 'heron ' || number, repeat('x', 500)
    FROM generate_series(1, ${count}::int) AS number`;
  await prisma.account.create({ data: { id: 'acc', name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: 'bot', accountId: 'acc', name: 'Bot' } });

  await insert(100);
  expect(await analyzed()).toEqual([]);
  await insert(1_900);
  expect(await analyzed()).toEqual(['ANALYZE "runs"']);
  expect(
    await prisma.$queryRaw`
    SELECT reltuples AS runs,
      (SELECT count(*)::int FROM pg_stats WHERE tablename = 'runs_text_idx') AS words
    FROM pg_class WHERE relname = 'runs'`,
  ).toEqual([{ runs: 2_000, words: 0 }]);
  await insert(500);
  expect(await analyzed()).toEqual([]);
  await insert(2_000);
  expect(await analyzed()).toEqual(['ANALYZE "runs"']);
});
