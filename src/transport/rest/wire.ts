import { z } from 'zod';
import { cursor, idempotencyKey, sessionId } from '../../input.ts';
import { toUpperCase } from '../../text.ts';

/** What is wrong with a body that is none. */
export const NOT_AN_OBJECT = 'the body must be a JSON object';

/** One of the names of the wire, as the schema has it. */
export function oneOf<const Names extends readonly [string, ...string[]]>(...names: Names) {
  const list = names.map((name) => `"${name}"`);
  const message = `must be ${list.slice(0, -1).join(', ')} or ${list.at(-1)}`;
  return z
    .enum(names, message)
    .transform((name: Names[number]) => toUpperCase(name))
    .optional();
}

export const environment = oneOf('production', 'staging').meta({
  description: 'Which deployment is meant; `production` by default.',
});

export const botParams = z.object({
  id: z.string().meta({ description: "The bot's id.", examples: ['demo'] }),
});

/** Of what may be repeated. */
export const repeatHeaders = z.object({
  'idempotency-key': idempotencyKey.optional().meta({
    description:
      'Your own name for this request: 1 to 255 visible ASCII characters. The same request again within 24 hours ' +
      'gets the first answer; another request under the same key is refused with `idempotency_conflict`.',
    examples: ['order-4711'],
  }),
});

export const conversation = sessionId.meta({
  description:
    'Names the conversation, and whom the bot remembers: 1 to 256 visible characters, stable and unique for ' +
    'each of your users. Without it a conversation of its own begins.',
  examples: ['user-1'],
});

/** The parameters of a list: its own, and those of every list. A name that is none of them is refused. */
export function listQuery<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = { ...shape, ...PAGE };
  return z.strictObject(known, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `unknown ${keys}; the parameters are ${Object.keys(known).join(', ')}`
        : undefined,
  });
}

const PAGE = {
  limit: z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(100, 'must be at most 100')
    .default(20)
    .meta({ description: 'How many entries at most.' }),
  cursor: cursor
    .optional()
    .meta({ description: '`next_cursor` of the page before; none: the first page.' }),
};

/** An id as Parley makes them, for examples. */
export function exampleId(prefix: 'dep' | 'req' | 'run' | 'ses'): string {
  return `${prefix}_01m7b2k5yqe8nva4t6r0w9xz3c`;
}
