import { shareCall } from '../../async/share-call.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';

/** Whether a deployment uses Telegram, so that an installation without it executes no statements for it. */
export type TelegramUse = {
  /** True if a deployment is or will be connected, or is being disconnected. Up to 5 seconds late without a notification. */
  isUsed(): Promise<boolean>;
  /** Looks anew at the next call, after a notification. */
  changed(): void;
};

const KNOWN_FOR_MS = 5_000;

export function createTelegramUse({ prisma }: { prisma: PrismaClient }): TelegramUse {
  let known: { used: boolean; until: number } | undefined;

  const find = shareCall(async () => {
    const [row] = await prisma.$queryRaw<{ used: boolean }[]>`
      SELECT EXISTS (
        SELECT 1 FROM channel_states WHERE channel = 'TELEGRAM' AND (status IN ('PENDING', 'CONNECTED') OR leaving)
      ) AS used`;
    return row?.used ?? false;
  });

  return {
    async isUsed() {
      const now = performance.now();
      if (!known || now > known.until) known = { used: await find(), until: now + KNOWN_FOR_MS };
      return known.used;
    },
    changed() {
      if (!known?.used) known = undefined;
    },
  };
}
