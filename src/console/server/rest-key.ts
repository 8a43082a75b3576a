import { RevokeKey } from '../../generated/operations/console.ts';
import { serverNow } from './clock.ts';
import { createHourKey } from './hour-key.ts';
import { type Answer, mutate } from './operations.ts';
import type { Problem } from './problem.ts';
import { createStore, useStore } from './store.ts';

/** An API key that this tab sends REST requests with. Only the tab's memory holds it, so a reload forgets it. */
export type RestKey = {
  secret: string;
  /** Present if the console created the key. It may only chat with one bot, until it expires. */
  created?: { id: string; botId: string; expiresAt: string };
};

const held = createStore<readonly RestKey[]>([]);

/** The key for a bot: the one that was created for it, else the typed one. */
export function restKeyFor(botId: string): RestKey | undefined {
  return keyIn(held.get(), botId);
}

export function useRestKey(botId: string): RestKey | undefined {
  return keyIn(useStore(held), botId);
}

function keyIn(keys: readonly RestKey[], botId: string): RestKey | undefined {
  const ofBot = keys.find(({ created }) => created?.botId === botId && isValid(created));
  return ofBot ?? keys.find(({ created }) => !created);
}

function isValid({ expiresAt }: NonNullable<RestKey['created']>): boolean {
  return Date.parse(expiresAt) > serverNow();
}

/** Holds a typed key, for every bot. */
export function holdTypedKey(secret: string): void {
  held.set([...held.get().filter(({ created }) => created), { secret }]);
}

/** Creates a key that may only chat with one bot, for an hour. @returns the problem if that failed. */
export async function createRestKey(botId: string): Promise<Problem | undefined> {
  const { key, problem } = await createHourKey({
    name: 'Playground, 1 hour',
    scopes: ['CHAT'],
    botIds: [botId],
  });
  if (key) {
    const { id, secret, expiresAt } = key;
    const others = held.get().filter(({ created }) => created?.botId !== botId);
    held.set([...others, { secret, created: { id, botId, expiresAt } }]);
  }
  return problem;
}

/** Forgets a key. */
export function dropRestKey(key: RestKey): void {
  held.set(held.get().filter((other) => other !== key));
}

/** Forgets a key, and revokes it if the console created it. @returns the problem if that failed. */
export async function forgetRestKey(key: RestKey): Promise<Problem | undefined> {
  dropRestKey(key);
  if (!key.created) return undefined;
  const { id } = key.created;
  const { problem }: Answer<unknown> = await mutate(RevokeKey, { id }, ['ApiKey']);
  return problem;
}

/** The start of a key, which recognizes it. */
export function maskedKey(secret: string): string {
  return `${secret.slice(0, 14)}…`;
}
