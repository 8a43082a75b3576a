import type { Look, Looks } from '../../coordination/looks.ts';
import { Prisma } from '../../generated/prisma/client.ts';

/** Whether a deployment uses Telegram, so that an installation without it executes no statements for it. */
export type TelegramUse = {
  /** True if a deployment is or will be connected, or is being disconnected. Up to 4 seconds late without a notification. */
  isUsed(): Promise<boolean>;
  /** Looks anew, after a notification. */
  changed(): void;
};

const IS_USED = Prisma.sql`EXISTS (
  SELECT 1 FROM channel_states WHERE channel = 'TELEGRAM' AND (status IN ('PENDING', 'CONNECTED') OR leaving))`;

export function createTelegramUse(looks: Pick<Looks, 'add' | 'now'>): TelegramUse {
  let used = false;
  let looking: Promise<void> | undefined;
  const onAnswer: Look['onAnswer'] = (isTrue) => {
    used = isTrue;
  };
  looks.add({ what: 'The search for a use of Telegram', condition: IS_USED, onAnswer });

  return {
    async isUsed() {
      await looking;
      return used;
    },
    changed() {
      if (!used) looking = looks.now();
    },
  };
}
