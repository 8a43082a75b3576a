import { createOwner, type Owner } from '../../src/coordination/worker-lease.ts';

/** An owner that stores heartbeats, until it is closed. */
export async function startOwner(...options: Parameters<typeof createOwner>): Promise<Owner> {
  const owner = await createOwner(...options);
  const beating = owner.start();
  return {
    ...owner,
    async close() {
      await beating[Symbol.asyncDispose]();
      await owner.close();
    },
  };
}
