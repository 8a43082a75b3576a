import { onTestFinished, vi } from 'vitest';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { withMember } from './lossy-database.ts';

/** How long each read takes, by the clock of the test. */
const READ_MS = 600;

/** Stops `performance.now()` for the current test: only `pass`, and each read of one row of a table, moves it on. */
export function slowReads(prisma: PrismaClient, table: 'activeDeployment' | 'apiKey' | 'bot') {
  let now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const { [table]: delegate } = prisma;
  const find: (which: never) => Promise<unknown> = delegate.findUnique;
  const findUnique = vi.fn(async (which: never) => {
    const found = await find(which);
    now += READ_MS;
    return found;
  });
  return {
    prisma: withMember(
      prisma,
      table,
      withMember<object>(delegate, 'findUnique' as never, findUnique),
    ),
    pass(ms: number) {
      now += ms;
    },
    reads: () => findUnique.mock.calls.length,
  };
}
