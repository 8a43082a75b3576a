import type { PrismaClient } from '../generated/prisma/client.ts';
import { makeId } from '../ids.ts';
import type { Log } from '../log.ts';

/**
 * This process, as one of those that work on a database: what it holds there (turns of sessions, runs) is its own
 * for so long as its heart beats.
 */
export type Owner = {
  /** `own_…`. Another one once this process was taken for dead: what it held is lost then. */
  id(): string;
  /** Leaves the owners, and what is still held with it. */
  close(): Promise<void>;
};

const HEARTBEAT_MS = 2_000;
/** A process that has been silent for so long is taken for dead by the others. */
const DEAD_AFTER = '8 seconds';

/**
 * Joins the owners, and takes out those who are dead.
 *
 * @param onLost called when this process was taken for dead, and goes on as somebody new.
 */
export async function createOwner({
  prisma,
  log,
  onLost,
}: {
  prisma: PrismaClient;
  log: Log;
  onLost: () => void;
}): Promise<Owner> {
  const join = async () => (await prisma.owner.create({ data: { id: makeId('own') } })).id;
  let id = await join();
  let beating: Promise<void> | undefined;

  const beat = async () => {
    const alive = await prisma.$executeRaw`
      UPDATE owners SET heartbeat_at = now() WHERE id = ${id}`;
    if (alive === 0) {
      log.error({ owner: id }, 'This process was silent for so long that it lost its runs.');
      id = await join();
      onLost();
    }
    await prisma.$executeRaw`
      DELETE FROM owners WHERE heartbeat_at < now() - ${DEAD_AFTER}::interval AND id <> ${id}`;
  };

  const timer = setInterval(() => {
    beating ??= beat()
      .catch((err: unknown) => {
        log.error({ err }, 'The heartbeat of this process could not be stored.');
      })
      .finally(() => {
        beating = undefined;
      });
  }, HEARTBEAT_MS);

  return {
    id: () => id,
    async close() {
      clearInterval(timer);
      await beating;
      await prisma.owner.deleteMany({ where: { id } });
    },
  };
}

/** Takes all owners out: for a database that nobody else can be working on. */
export async function forgetOwners(prisma: PrismaClient): Promise<void> {
  await prisma.owner.deleteMany();
}
