import type { Approvals } from '../../approvals/approvals.ts';
import type { Decision } from '../../approvals/decision.ts';
import { GatewayError } from '../../errors/errors.ts';
import type { Account, PrismaClient } from '../../generated/prisma/client.ts';
import type { TelegramBot } from './api.ts';
import { approvalText } from './approval-text.ts';
import type { Buttons } from './buttons.ts';
import { isTelegramError } from './error.ts';
import type { TakenUpdate } from './inbox.ts';
import type { Request } from './update.ts';

/**
 * Decides about an approval after a press of a button, and edits the message of the button. Only a chat that the deployment
 * that asked names may decide.
 *
 * @throws TelegramError
 */
export type HandlePress = (
  press: Extract<Request, { kind: 'press' }>,
  update: TakenUpdate,
  parts: { bot: TelegramBot; account: Account },
  signal: AbortSignal,
) => Promise<void>;

/** Texts that Telegram shows for a moment. They have at most 200 characters. */
const ANSWERS = {
  foreign: 'This button decides nothing.',
  APPROVE: 'Approved.',
  DENY: 'Denied.',
} as const;

/** Problems that another attempt does not solve. */
const FINAL = ['already_decided', 'tool_gone', 'approval_not_found', 'invalid_request'];

export function createHandlePress({
  prisma,
  approvals,
  buttons,
}: {
  prisma: PrismaClient;
  approvals: Pick<Approvals, 'decide'>;
  buttons: Pick<Buttons, 'read'>;
}): HandlePress {
  /** @returns the text to show. */
  const decide = async (
    id: string,
    decision: Decision['decision'],
    { accountId, chatId }: { accountId: string; chatId: number },
    signal: AbortSignal,
  ): Promise<string> => {
    const decider = { accountId, keyId: null, chatId: BigInt(chatId) };
    try {
      const made = { decision, note: undefined, arguments: undefined };
      await approvals.decide(id, made, decider, signal);
      return ANSWERS[decision];
    } catch (error) {
      if (error instanceof GatewayError && FINAL.includes(error.code)) return error.message;
      throw error;
    }
  };

  return async ({ pressId, data, messageId }, { botId, environment, message }, parts, signal) => {
    const { bot, account } = parts;
    const { chatId } = message;
    /** Telegram forgets a press after a while. The message shows the decision, too. */
    const answer = (text: string) =>
      bot.answerPress(pressId, text.slice(0, 200), signal).catch((error: unknown) => {
        if (!isTelegramError(error, 'rejected')) throw error;
      });
    const pressed = buttons.read(data, chatId);
    const id = pressed?.approvalId ?? '';
    const where = { approvalId_chatId: { approvalId: id, chatId } };
    const asked =
      pressed &&
      (await prisma.approvalMessage.findUnique({
        where: { ...where, approval: { botId, environment } },
      }));
    if (!pressed || !asked) return answer(ANSWERS.foreign);
    const said = await decide(id, pressed.decision, { accountId: account.id, chatId }, signal);
    const approval = await prisma.approval.findUnique({ where: { id } });
    if (approval && approval.status !== 'WAITING')
      await bot
        .edit({ chatId }, messageId, approvalText(approval, chatId), signal)
        .catch((error: unknown) => {
          if (!isTelegramError(error, 'message-gone')) throw error;
        });
    await answer(said);
  };
}
