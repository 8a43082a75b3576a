import { z } from 'zod';
import { jsonObjectUpTo } from './json.ts';
import { isStorable } from './text.ts';

/** The two ways in which a value can be none of its type, in words. */
export function expected(type: string) {
  return {
    error: ({ input }: { input?: unknown }) =>
      input === undefined ? 'is required' : `must be ${type}`,
  };
}

/** Any text that can be stored. */
export const text = z
  .string(expected('a string'))
  .refine(isStorable, 'must not hold U+0000 or halves of surrogate pairs');

/** A limit of a text's length: of what is no text, the `length` says nothing. */
const ofText = (error: string) => ({
  error,
  when: ({ value }: { value: unknown }) => typeof value === 'string',
});

/** A list of at most so many items. Those of a longer list are not checked, however wrong they are. */
export function listOf<Item extends z.ZodType>(item: Item, most: number) {
  return z.array(z.any()).max(most, `must not have more than ${most} items`).pipe(z.array(item));
}

/** What people call an account, a key or a bot: 1 to 200 characters. */
export const displayName = text
  .trim()
  .min(1, ofText('must not be empty'))
  .max(200, ofText('must not be longer than 200 characters'));

/** A bot's id: `[A-Za-z0-9_-]{1,64}`, and unlike the ids that Parley makes for other things. */
export const botId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"')
  .refine(
    (id) => !/^(acc|key|dep|ses|msg|run)_/.test(id),
    'must not begin with acc_, key_, dep_, ses_, msg_ or run_',
  );

/** A caller's name for a conversation: 1 to 256 visible characters. */
export const sessionId = text.refine(
  (id) => /^[^\p{C}\p{Z}]{1,256}$/u.test(id),
  'must be 1 to 256 visible characters, without spaces',
);

/** A user's message. */
export const chatMessage = text.min(1, ofText('must not be empty'));

/** A definition's text. Whether it is one, its own reading says. */
export const definitionSource = text;

/** A deployer's note: at most 1,000 characters. */
export const deployMessage = text.max(1_000, ofText('must not be longer than 1,000 characters'));

/** The name of a deployment's variable, as definitions refer to it. */
export const envName = z
  .string(expected('a string'))
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
    'must be a name of at most 128 letters, digits and "_", no digit first',
  );

/** The value of a deployment's variable: at most 32 KiB. */
export const envValue = text.refine(
  (value) => Buffer.byteLength(value) <= 32 * 1024,
  'must not be larger than 32 KiB',
);

/** How many variables one deployment may have. */
export const MAX_ENV_VARS = 200;

/** How many entries of a list make a page. */
export const pageSize = z
  .int('must be a whole number')
  .min(0, 'must not be negative')
  .max(100, 'must not be more than 100');

/** Reads a place in a list: a number of at most 14 digits, and a text. @returns nothing of what is none. */
export function readCursor(cursor: string): readonly [number, string] | undefined {
  const [, value, tie] =
    /^(\d{1,14})\.([^\0]+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return value === undefined || tie === undefined ? undefined : [Number(value), tie];
}

/** A place in a list, as it was given out. */
export const cursor = text.refine(
  (value) => readCursor(value) !== undefined,
  'is not a cursor of this list',
);

/** A UTC day. */
export const utcDay = z.iso.date('must be a day such as 2026-11-21');

/** The name of a fact that a bot keeps of a user. */
export const factName = z
  .string(expected('a string'))
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
    'must be a name of at most 64 letters, digits and "_", no digit first',
  );

/** A fact that a bot keeps of a user: 1 to 4,000 characters. */
export const factValue = text
  .min(1, ofText('must not be empty'))
  .max(4_000, ofText('must not be longer than 4,000 characters'));

/** How many facts a bot keeps of the user of one session. */
export const MAX_FACTS = 256;

/** A caller's own notes on a run: at most 64 KiB. */
export const runMetadata = jsonObjectUpTo(64);

/** A caller's name for a request that it may repeat. */
export const idempotencyKey = z
  .string(expected('a string'))
  .regex(/^[!-~]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

/** How far the events of a run were read: the `seq` of the last one. */
export const eventPosition = z.int32('must be a whole number').min(0, 'must not be negative');
