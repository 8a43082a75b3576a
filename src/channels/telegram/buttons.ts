import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { InlineKeyboardMarkup } from 'grammy/types';
import type { Decision } from '../../approvals/decision.ts';

/** What a press of a button decides. */
export type Pressed = { approvalId: string; decision: Decision['decision'] };

/** The buttons below a message about an approval. Each has a signature of this installation, for its chat. */
export type Buttons = {
  of(approvalId: string, chatId: number): InlineKeyboardMarkup;
  /** @returns undefined if this installation made no such button for the chat. */
  read(data: string, chatId: number): Pressed | undefined;
};

/** 22 characters of base64url: the data of a button has at most 64 bytes. Source: Telegram's Bot API. */
const SIGNATURE_BYTES = 16;
const DATA = /^([ad]):(tcl_\w{26}):([\w-]{22})$/;
const DECISIONS = { a: 'APPROVE', d: 'DENY' } as const;

/** @param secretKeys the current key, then the previous ones, whose buttons stay valid. */
export function createButtons(secretKeys: Uint8Array[]): Buttons {
  const keys = secretKeys.map((secretKey) =>
    Buffer.from(hkdfSync('sha256', secretKey, '', 'parley approval buttons', 32)),
  );
  const [present] = keys;
  if (present === undefined) throw new Error('There is no secret key.');
  const sign = (key: Buffer, letter: string, approvalId: string, chatId: number) =>
    createHmac('sha256', key)
      .update(`${letter}:${approvalId}:${chatId}`)
      .digest()
      .subarray(0, SIGNATURE_BYTES);

  return {
    of(approvalId, chatId) {
      const button = (text: string, letter: 'a' | 'd') => {
        const signature = sign(present, letter, approvalId, chatId).toString('base64url');
        return { text, callback_data: `${letter}:${approvalId}:${signature}` };
      };
      return { inline_keyboard: [[button('Approve', 'a'), button('Deny', 'd')]] };
    },

    read(data, chatId) {
      const [, letter, approvalId = '', signature = ''] = DATA.exec(data) ?? [];
      if (letter !== 'a' && letter !== 'd') return undefined;
      const given = Buffer.from(signature, 'base64url');
      const isOwn = keys.some((key) =>
        timingSafeEqual(sign(key, letter, approvalId, chatId), given),
      );
      return isOwn ? { approvalId, decision: DECISIONS[letter] } : undefined;
    },
  };
}
