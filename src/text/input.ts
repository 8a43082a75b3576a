import { z } from 'zod';
import { isStorable } from './characters.ts';
import { jsonObjectUpTo, ofObject } from './json.ts';

/** The messages for a missing value and for a value of the wrong type. */
export function expected(type: string) {
  return {
    error: ({ input }: { input?: unknown }) =>
      input === undefined ? 'is required' : `must be ${type}`,
  };
}

/** Text that the database can store. */
export const text = z
  .string(expected('a string'))
  .refine(isStorable, 'must not hold U+0000 or halves of surrogate pairs');

/** The longest texts that a request may store, in characters. The longest answers follow from them. */
export const LONGEST = {
  displayName: 200,
  origin: 255,
  sessionId: 256,
  deployMessage: 1_000,
  envName: 128,
  note: 2_000,
  factName: 64,
  factValue: 4_000,
} as const;

/** Bots that a key may be restricted to. */
export const MAX_BOTS_OF_KEY = 100;

/** Scopes that a request may list. */
export const MAX_SCOPES = 20;

/** Origins of pages that may contain a bot's chat page. */
export const MAX_ORIGINS = 50;

/** Applies a length limit to strings only: arrays have a `length` too. */
export const ofText = (error: string) => ({
  error,
  when: ({ value }: { value: unknown }) => typeof value === 'string',
});

const notLonger = (length: number) =>
  ofText(`must not be longer than ${length.toLocaleString('en')} characters`);

/** A list with a maximum number of items. The items of a longer list are not validated, to bound the work. */
export function listOf<Item extends z.ZodType>(item: Item, most: number) {
  const list = z.array(z.any(), expected('a list'));
  const limit = {
    error: `must not have more than ${most} items`,
    // Other values may have a `length` too.
    when: ({ value }: { value: unknown }) => Array.isArray(value),
  };
  return list.max(most, limit).pipe(z.array(item));
}

/** The display name of an account, a key or a bot: 1 to 200 characters. */
export const displayName = text
  .trim()
  .min(1, ofText('must not be empty'))
  .max(LONGEST.displayName, notLonger(LONGEST.displayName));

/** A part of a name or an id: at most 200 characters. */
export const namePart = text.trim().max(LONGEST.displayName, notLonger(LONGEST.displayName));

/** The expiry of a key. */
export const futureTime = z
  .date()
  .refine((date) => date.getTime() > Date.now(), 'must be in the future');

/** A bot's id: `[A-Za-z0-9_-]{1,64}`, without the prefixes of other records' ids. */
export const botId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"')
  .refine(
    (id) => !/^(acc|key|dep|ses|msg|run)_/.test(id),
    'must not begin with acc_, key_, dep_, ses_, msg_ or run_',
  );

/** Examples: `https://shop.example`, `http://localhost:3000`. Browsers send an origin without a path. */
export function isOrigin(entry: string): boolean {
  return /^https?:/.test(entry) && URL.canParse(entry) && new URL(entry).origin === entry;
}

/** Origins of the pages that may contain a bot's chat page: at most 50, or `*` for every page. */
export const webOrigins = listOf(
  text.refine(
    (entry) => entry === '*' || (entry.length <= LONGEST.origin && isOrigin(entry)),
    'must be an origin, such as https://shop.example, or *',
  ),
  MAX_ORIGINS,
);

/** A file of at most 32 KiB in base64. `bots/logo.ts` checks the content. */
export const logoFile = z
  .base64('must be base64')
  .max(4 * Math.ceil((32 * 1024) / 3), 'must not be larger than 32 KiB');

/** A limit of what one visitor's address may do in a time window. */
export const visitorLimit = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(100_000, 'must be at most 100,000');

/** The client's id for a conversation: 1 to 256 visible characters. */
export const sessionId = text.refine(
  (id) => /^[^\p{C}\p{Z}]{1,256}$/u.test(id),
  'must be 1 to 256 visible characters, without spaces',
);

/** A user's message. */
export const chatMessage = text.min(1, ofText('must not be empty'));

/** The source of a bot definition. The definition language's parser validates it. */
export const definitionSource = text;

/** The name of a model: 1 to 128 characters. */
export const modelName = text.trim().min(1, ofText('must not be empty')).max(128, notLonger(128));

/** The note on a deployment: at most 1,000 characters. */
export const deployMessage = text.max(LONGEST.deployMessage, notLonger(LONGEST.deployMessage));

/** The name of a deployment's environment variable. */
export const envName = z
  .string(expected('a string'))
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
    'must be a name of at most 128 letters, digits and "_", no digit first',
  );

/** The value of a deployment's environment variable: at most 32 KiB. */
export const envValue = text.refine(
  (value) => Buffer.byteLength(value) <= 32 * 1024,
  'must not be larger than 32 KiB',
);

/** Environment variables that one deployment may have. */
export const MAX_ENV_VARS = 200;

/** The number of items on a page: 0 to 100. */
export const pageSize = z
  .int('must be a whole number')
  .min(0, 'must not be negative')
  .max(100, 'must not be more than 100');

/** Decodes a cursor into a number of at most 14 digits and a tie-breaker. @returns `undefined` if it is malformed. */
export function readCursor(cursor: string): readonly [number, string] | undefined {
  const [, value, tie] =
    /^(\d{1,14})\.([^\0]*)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return value === undefined || tie === undefined ? undefined : [Number(value), tie];
}

/** An opaque position in a list, from an earlier page. */
export const cursor = text.refine(
  (value) => readCursor(value) !== undefined,
  'is not a cursor of this list',
);

/** A UTC day. */
export const utcDay = z.iso.date('must be a day such as 2026-11-21');

/** A person's note on the rating of a run or on a decision: at most 2,000 characters. */
export const note = text.max(LONGEST.note, notLonger(LONGEST.note));

/** Arguments in place of a model's: at most 64 KiB and 32 levels. */
export const decisionArguments = jsonObjectUpTo(64);

/** The text of a search: at most 256 characters with at least one letter or digit. */
export const searchText = text
  .max(256, ofText('must not be longer than 256 characters'))
  .regex(/[\p{L}\p{N}]/u, 'must contain a letter or a digit');

/** A minimum of a count. */
export const leastCount = z.int32('must be a whole number').min(1, 'must be at least 1');

/** The name of a fact that a bot remembers about a user. */
export const factName = z
  .string(expected('a string'))
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
    'must be a name of at most 64 letters, digits and "_", no digit first',
  );

/** The value of a fact that a bot remembers about a user: 1 to 4,000 characters. */
export const factValue = text
  .min(1, ofText('must not be empty'))
  .max(LONGEST.factValue, notLonger(LONGEST.factValue));

/** Facts that a bot remembers in one session. */
export const MAX_FACTS = 256;

/** The client's own metadata on a run: at most 64 KiB. */
export const runMetadata = jsonObjectUpTo(64);

/** The JSON Schema of a structured reply: of an object, at most 16 KiB, as the schema of a tool. */
export const outputSchema = jsonObjectUpTo(16).refine((schema) => schema.type === 'object', {
  error: 'must be the schema of an object, with "type": "object"',
  ...ofObject,
});

/** The client's key for a request that it may repeat. */
export const idempotencyKey = z
  .string(expected('a string'))
  .regex(/^[!-~]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

/** A position in a run's events: the `seq` of the last event that the client has read. */
export const eventPosition = z.int32('must be a whole number').min(0, 'must not be negative');
