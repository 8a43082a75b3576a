import { expect, test } from 'vitest';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';
import { createQueueDepth } from '../../../src/runs/queue/queue-depth.ts';
import { makeId } from '../../../src/text/ids.ts';
import { testDatabase } from '../../helpers/database.ts';

const { prisma } = await testDatabase();

test('the age of a run is not negative, though its stored time is rounded up', async () => {
  const accountId = makeId('acc');
  const botId = makeId('bot');
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  const what = { kind: 'EXECUTE', environment: 'PRODUCTION', channel: 'API', input: 'Hi' } as const;
  const queued = { status: 'QUEUED', background: true, attempt: 0, accountId } as const;
  // `now()` does not advance in a transaction. Half of the times are rounded up.
  for (let count = 0; count < 30; count += 1)
    await prisma.$transaction(async (tx) => {
      const { id } = await tx.run.create({
        data: { id: makeId('run'), botId, ...what, ...queued },
      });
      const read = createQueueDepth({ prisma: tx as PrismaClient });
      expect((await read()).oldestSeconds).toBeGreaterThanOrEqual(0);
      await tx.run.delete({ where: { id } });
    });
});
