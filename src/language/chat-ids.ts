import { BOUNDS } from './bounds.ts';
import type { Definition } from './definition.ts';

/** A user's chat has a positive id, a group's chat a negative one. */
const CHAT_ID = /^-?[1-9]\d{0,15}$/;

const EXPECTED = 'expected chat ids separated by commas, such as "4711, -1001234567890"';

/** Reads the ids of Telegram chats from text: 1 to 32 whole numbers, separated by commas. @returns or the problem, a clause. */
export function readChatIds(text: string): { chats: number[] } | { problem: string } {
  const parts = text.split(',', BOUNDS.approvers + 1).map((part) => part.trim());
  if (parts.length > BOUNDS.approvers)
    return { problem: `expected at most ${BOUNDS.approvers} chat ids` };
  const chats = parts.map(Number);
  const isValid = chats.every(
    (chat, index) => CHAT_ID.test(parts[index] ?? '') && Number.isSafeInteger(chat),
  );
  return isValid ? { chats: [...new Set(chats)] } : { problem: EXPECTED };
}

/** Why the variable of `approvers` names no chats, a clause. Undefined without the variable or without a problem. */
export function approversProblem(
  { channels }: Pick<Definition, 'channels'>,
  variables: Readonly<Record<string, string>>,
): string | undefined {
  const approvers = channels.find((channel) => channel.type === 'telegram')?.approvers;
  if (approvers === undefined || Array.isArray(approvers)) return undefined;
  const text = variables[approvers.env];
  const read = text === undefined ? undefined : readChatIds(text);
  return read && 'problem' in read ? `env.${approvers.env}: ${read.problem}` : undefined;
}

/** The chats of Telegram whose members decide about the tool calls of a definition. Empty if its variable names none. */
export function approversOf(
  { channels }: Pick<Definition, 'channels'>,
  variables: Readonly<Record<string, string>>,
): number[] {
  const approvers = channels.find((channel) => channel.type === 'telegram')?.approvers;
  if (approvers === undefined || Array.isArray(approvers)) return approvers ?? [];
  const read = readChatIds(variables[approvers.env] ?? '');
  return 'chats' in read ? read.chats : [];
}
