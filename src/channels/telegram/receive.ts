import { z } from 'zod';
import type { Environment } from '../../generated/prisma/client.ts';
import type { Inbox } from './inbox.ts';
import { type Addressee, readUpdate } from './update.ts';

/** The Telegram bot that received an update, and the bot that answers it. */
export type Receiver = Addressee & { botId: string; environment: Environment };

/**
 * Stores an update, unless it needs no answer or is stored already.
 *
 * @returns the update's id; `undefined` if it has none.
 */
export type Receive = (receiver: Receiver, update: unknown) => Promise<number | undefined>;

const identified = z.object({ update_id: z.int().min(0) });

export function createReceive({ inbox }: { inbox: Pick<Inbox, 'store'> }): Receive {
  return async ({ botId, environment, ...bot }, input) => {
    const update = readUpdate(input, bot);
    if (update) await inbox.store({ telegramBotId: bot.id, botId, environment }, update);
    return identified.safeParse(input).data?.update_id;
  };
}
