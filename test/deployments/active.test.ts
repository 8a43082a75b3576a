import { beforeAll, describe, expect, test } from 'vitest';
import { type ActiveDeployments, createActiveDeployments } from '../../src/deployments/active.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type TestApp, testCipher } from '../helpers/app.ts';

let app: TestApp;
let prisma: PrismaClient;
beforeAll(async () => {
  app = await startApp();
  prisma = app.prisma;
});

/** Deploys a source of a length several times. @returns the ids. */
async function deploy(count: number, length: number): Promise<string[]> {
  const tenant = await app.tenant();
  const botId = await tenant.bot(null);
  const ids = Array.from({ length: count }, () => makeId('dep'));
  const prompt = 'x'.repeat(length);
  await prisma.$executeRaw`
    INSERT INTO deployments (id, bot_id, environment, status, source)
    SELECT id, ${botId}, 'PRODUCTION', 'DEPLOYED', ${`agentlang 5\nagent "A" {\n  prompt "${prompt}"\n}\n`}
    FROM unnest(${ids}::text[]) AS id`;
  return ids;
}

/** Loads deployments one after the other. @returns how many of them are still cached. */
async function cachedOf({ loadAll }: ActiveDeployments, ids: string[]): Promise<number> {
  const loaded = new Map<string, unknown>();
  for (const id of ids) loaded.set(id, (await loadAll([id])).get(id));
  let cached = 0;
  // From the newest, because a load evicts the oldest.
  for (const id of ids.toReversed()) {
    if ((await loadAll([id])).get(id) === loaded.get(id)) cached += 1;
    else break;
  }
  return cached;
}

describe('the cache of running deployments', () => {
  test('holds 1,000', async () => {
    const active = createActiveDeployments({ prisma, cipher: testCipher });
    expect(await cachedOf(active, await deploy(1_010, 10))).toBe(1_000);
  });

  test('holds 128 MiB, which it estimates as 8 bytes for each character of a source', async () => {
    const active = createActiveDeployments({ prisma, cipher: testCipher });
    const length = 200_000;
    const most = Math.floor((128 * 1024 * 1024) / (8 * length));
    const cached = await cachedOf(active, await deploy(most + 20, length));
    expect(cached).toBeGreaterThan(most - 10);
    expect(cached).toBeLessThanOrEqual(most);
  });
});
