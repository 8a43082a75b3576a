import type { KeyScope, ListedKeyFragment } from '../../../../generated/operations/console.ts';
import { serverNow } from '../../../server/clock.ts';

export type ListedKey = ListedKeyFragment;

/** Whether a key was revoked or has expired. */
export function hasEnded({ revokedAt, expiresAt }: ListedKey): boolean {
  return revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= serverNow());
}

/** The keys that a key created, directly or through others, that are still valid. */
export function createdBy({ id }: ListedKey, keys: ListedKey[]): ListedKey[] {
  return keys
    .filter((key) => key.createdBy?.id === id)
    .flatMap((key) => [...(hasEnded(key) ? [] : [key]), ...createdBy(key, keys)]);
}

/** The values of a key in a form. */
export type KeyDraft = {
  name: string;
  scopes: KeyScope[];
  /** `null`: every bot of the account. */
  botIds: string[] | null;
  /** `undefined`: as it is. `null`: never. */
  expiresAt: string | null | undefined;
};

/** The fields of a draft that differ from a key. Fields that stay are not sent, because they may need rights. */
export function changesOf(key: ListedKey, draft: KeyDraft): Partial<KeyDraft> {
  const botIds = key.bots?.map(({ id }) => id) ?? null;
  return {
    ...(draft.name.trim() !== key.name && { name: draft.name }),
    ...(!isSame(draft.scopes, key.scopes) && { scopes: draft.scopes }),
    ...(!isSame(draft.botIds, botIds) && { botIds: draft.botIds }),
    ...(draft.expiresAt !== undefined && { expiresAt: draft.expiresAt }),
  };
}

/** The present values of the fields that a change names. */
export function valuesOf(key: ListedKey, changes: Partial<KeyDraft>): Partial<KeyDraft> {
  return {
    ...('name' in changes && { name: key.name }),
    ...('scopes' in changes && { scopes: key.scopes }),
    ...('botIds' in changes && { botIds: key.bots?.map(({ id }) => id) ?? null }),
    ...('expiresAt' in changes && { expiresAt: key.expiresAt }),
  };
}

function isSame(one: string[] | null, other: string[] | null): boolean {
  if (!one || !other) return one === other;
  return one.length === other.length && one.every((entry) => other.includes(entry));
}
