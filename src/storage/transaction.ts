import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';

/** An open transaction. To dispose of it rolls it back, unless it was committed. */
export type Transaction = AsyncDisposable & {
  tx: Prisma.TransactionClient;
  /** @throws if the transaction was not committed, or if the outcome of the commit is unknown. */
  commit(): Promise<void>;
};

/** Opens a transaction whose commit is a separate step, so that the caller can compensate an unknown outcome. */
export async function openTransaction(
  prisma: PrismaClient,
  options: { maxWait: number; timeout: number },
): Promise<Transaction> {
  const opened = Promise.withResolvers<Prisma.TransactionClient>();
  const worked = Promise.withResolvers<void>();
  const ended = prisma.$transaction((tx) => {
    opened.resolve(tx);
    return worked.promise;
  }, options);
  ended.catch(opened.reject);
  const tx = await opened.promise;
  return {
    tx,
    async commit() {
      worked.resolve();
      await ended;
    },
    async [Symbol.asyncDispose]() {
      worked.reject(new Error('The transaction is rolled back.'));
      await ended.catch(() => {});
    },
  };
}
