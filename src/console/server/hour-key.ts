import { type CreateApiKeyInput, CreateKey } from '../../generated/operations/console.ts';
import { serverNow } from './clock.ts';
import { mutate } from './operations.ts';
import type { Problem } from './problem.ts';

/** How long such a key is valid. */
export const KEY_LIFETIME_MS = 3_600_000;

/** A key that expires an hour after it was created. */
export type HourKey = { id: string; secret: string; expiresAt: string };

/** Creates an API key that is valid for an hour. @returns the problem if that failed. */
export async function createHourKey(
  input: Omit<CreateApiKeyInput, 'expiresAt'>,
): Promise<{ key?: HourKey; problem?: Problem | undefined }> {
  const expiresAt = new Date(serverNow() + KEY_LIFETIME_MS).toISOString();
  const { data, problem } = await mutate(CreateKey, { input: { ...input, expiresAt } }, ['ApiKey']);
  if (!data?.createApiKey) return { problem };
  const { apiKey, secret } = data.createApiKey;
  return { key: { id: apiKey.id, secret, expiresAt } };
}
