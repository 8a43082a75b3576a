import { CreateTemporaryKey, RevokeTemporaryKey } from '../../operations/console/operations.ts';
import { serverNow } from './clock.ts';
import { type Answer, mutate } from './operations.ts';
import type { Problem } from './problem.ts';
import { createStore } from './store.ts';

/** The API key that this tab sends REST requests with. Only the tab's memory holds it, so a reload forgets it. */
export type RestKey = {
  secret: string;
  /** Present if the console created the key. */
  created?: { id: string; expiresAt: string };
};

export const restKey = createStore<RestKey | undefined>(undefined);

const LIFETIME_MS = 3_600_000;

/** Creates a key that may only chat with one bot, for an hour. @returns the problem if that failed. */
export async function createRestKey(botId: string): Promise<Problem | undefined> {
  const expiresAt = new Date(serverNow() + LIFETIME_MS).toISOString();
  const answer = await mutate(
    CreateTemporaryKey,
    { input: { name: 'Playground, 1 hour', scopes: ['CHAT'], botIds: [botId], expiresAt } },
    ['ApiKey'],
  );
  const created = answer.data?.createApiKey;
  if (created)
    restKey.set({ secret: created.secret, created: { id: created.apiKey.id, expiresAt } });
  return answer.problem;
}

/** Forgets the key, and revokes it if the console created it. @returns the problem if that failed. */
export async function forgetRestKey(): Promise<Problem | undefined> {
  const id = restKey.get()?.created?.id;
  restKey.set(undefined);
  if (!id) return undefined;
  const { problem }: Answer<unknown> = await mutate(RevokeTemporaryKey, { id }, ['ApiKey']);
  return problem;
}

/** The start of a key, which recognizes it. */
export function maskedKey(secret: string): string {
  return `${secret.slice(0, 14)}…`;
}
