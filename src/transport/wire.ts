import { z } from 'zod';
import {
  chatMessage,
  cursor,
  definitionSource,
  deployMessage,
  envName,
  envValue,
  expected,
  idempotencyKey,
  MAX_ENV_VARS,
  sessionId,
  utcDay,
} from '../input.ts';
import { jsonObject } from '../json.ts';
import { toUpperCase } from '../text.ts';

const NOT_AN_OBJECT = 'the body must be a JSON object';

/** One of the names of the wire, as the schema has it. */
function oneOf<const Names extends readonly [string, ...string[]]>(...names: Names) {
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

export const runParams = botParams.extend({
  run_id: z.string().meta({ description: "The run's id.", examples: [exampleId('run')] }),
});

export const deploymentParams = botParams.extend({
  deployment_id: z
    .string()
    .meta({ description: "The deployment's id.", examples: [exampleId('dep')] }),
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

/** How a caller may have a run done, whatever it is. */
export const runHeaders = repeatHeaders.extend({
  'x-environment': environment,
  'x-on-disconnect': oneOf('cancel', 'continue').meta({
    description:
      'What becomes of the run when its client goes away: `cancel`, the default, or `continue`, the default ' +
      'with an `Idempotency-Key`.',
  }),
  traceparent: z
    .string()
    .optional()
    .meta({
      description: 'The trace that the run is a part of, as W3C Trace Context has it.',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    }),
  accept: z.string().default(''),
});

const conversation = sessionId.meta({
  description:
    'Names the conversation, and whom the bot remembers: 1 to 256 visible characters, stable and unique for ' +
    'each of your users. Without it a conversation of its own begins.',
  examples: ['user-1'],
});

export const chatHeaders = z.object({
  'x-session-id': z
    .string()
    .transform(readUtf8)
    .pipe(sessionId)
    .optional()
    .meta({ description: conversation.description, param: { example: 'user-1' } }),
  'x-on-busy': oneOf('enqueue', 'reject').meta({
    description:
      'What to do while the session is busy with another message: wait (`enqueue`, the default) or be refused ' +
      'at once with `session_busy` (`reject`).',
  }),
  ...runHeaders.shape,
});

const message = chatMessage.meta({ description: "The user's message.", examples: ['Hello!'] });

const anyObject = jsonObject.meta({ override: { type: 'object', additionalProperties: true } });

const context = anyObject.optional().meta({
  description:
    'What else the agent shall know: put into its prompt. It wins over what the bot remembers.',
  examples: [{ plan: 'pro' }],
});

const stream = z.boolean(expected('a boolean')).default(false).meta({
  description:
    'Whether to answer as a stream of frames; the header `Accept` must name `text/event-stream` too.',
});

export const chatBody = z
  .object({ message, context, stream, environment }, NOT_AN_OBJECT)
  .meta({ id: 'ChatRequest' });

export const executeBody = z
  .object(
    {
      prompt: chatMessage.meta({
        description: 'What is to be done.',
        examples: ['Say in one sentence what a gateway is.'],
      }),
      context,
      stream,
      background: z
        .boolean(expected('a boolean'))
        .default(false)
        .meta({
          description:
            'Whether the run is only taken on, and done without anybody who waits for it. Not together with `stream`; ' +
            '`X-On-Disconnect` means nothing then.',
        }),
      environment,
      metadata: anyObject.optional().meta({
        description: 'Your own notes on the run, stored with it.',
        examples: [{ job: 'nightly' }],
      }),
    },
    NOT_AN_OBJECT,
  )
  .check(({ value: { stream, background }, issues }) => {
    if (!stream || !background) return;
    const message = 'stream and background exclude each other';
    for (const path of [['stream'], ['background']])
      issues.push({ code: 'custom', input: true, path, message });
  })
  .meta({ id: 'ExecuteRequest' });

export const streamQuery = z.object({
  session_id: conversation
    .optional()
    .meta({ description: conversation.description, examples: ['user-1'] }),
  environment,
});

export const chatQuery = streamQuery.extend({ message });

/** A `seq`, in digits. */
const position = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number)
  .optional();

export const eventsQuery = z.object({
  after: position.meta({
    description: 'The number of the last event that you have: only those behind it are sent.',
    param: { example: '12' },
  }),
});

export const eventsHeaders = z.object({
  'last-event-id': position.meta({
    description:
      'The same, as clients of Server-Sent Events send it by themselves; it wins over `after`.',
  }),
});

const note = deployMessage.optional().meta({
  description: 'A note on the deployment, of at most 1,000 characters.',
  examples: ['First release'],
});

export const deployBody = z
  .object(
    {
      agentlang: definitionSource.meta({
        description: "The definition's source, in agentlang 5. Secrets stay out of it.",
        examples: [
          'agentlang 5\nagent "Order desk" {\n  description "Answers order questions"\n  prompt "You are the order desk of ACME."\n  channel web\n}\n',
        ],
      }),
      environment,
      message: note,
      env_vars: z
        .record(envName, envValue.nullable(), 'must be an object of texts')
        .default({})
        .refine(
          (variables) => Object.keys(variables).length <= MAX_ENV_VARS,
          `must be at most ${MAX_ENV_VARS}`,
        )
        .meta({
          description:
            'Variables that the definition names as `env.NAME`, laid over those of the deployment before: encrypted, ' +
            `and never readable again. \`null\` takes one out. At most ${MAX_ENV_VARS}, of 32 KiB each.`,
          examples: [{ ORDERS_KEY: 'a secret', OLD_KEY: null }],
        }),
    },
    NOT_AN_OBJECT,
  )
  .meta({ id: 'DeployRequest' });

export const rollbackBody = z
  .object({ message: note.meta({ examples: ['Back to what ran before'] }) }, NOT_AN_OBJECT)
  .meta({ id: 'RollbackRequest' })
  .default({});

/** The parameters of a list: its own, and those of every list. A name that is none of them is refused. */
function listQuery<Shape extends z.ZodRawShape>(shape: Shape) {
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

export const deploymentsQuery = listQuery({
  environment: environment.meta({ description: 'Only deployments to this environment.' }),
  status: oneOf('pending', 'deployed', 'failed').meta({
    description: 'Only deployments of this status.',
  }),
});

const moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    'must be a moment of ISO 8601 with its time zone, such as 2026-11-21T10:00:00Z',
  )
  .transform((text) => new Date(text))
  .optional();

export const runsQuery = listQuery({
  user: conversation.optional().meta({
    description: "Only runs of this user: the session's id.",
    examples: ['user-1'],
  }),
  status: oneOf('queued', 'running', 'completed', 'failed', 'cancelled').meta({
    description: 'Only runs that stand so.',
  }),
  channel: oneOf('api', 'web', 'telegram').meta({
    description: 'Only runs that came from there.',
  }),
  kind: oneOf('chat', 'execute').meta({
    description: 'Only messages of conversations, or only prompts by themselves.',
  }),
  environment: environment.meta({ description: 'Only runs of this environment.' }),
  date: utcDay.optional().meta({
    description: 'Only runs that were made on this UTC day.',
    examples: ['2026-11-20'],
  }),
  from: moment.meta({
    description: 'Only runs that were made at this moment or after it, in ISO 8601.',
    examples: ['2026-11-20T12:00:00Z'],
  }),
  to: moment.meta({
    description: 'Only runs that were made before this moment, in ISO 8601.',
    examples: ['2026-11-20T13:00:00Z'],
  }),
});

/** An id as Parley makes them, for examples. */
export function exampleId(prefix: 'dep' | 'req' | 'run' | 'ses'): string {
  return `${prefix}_01m7b2k5yqe8nva4t6r0w9xz3c`;
}

/** A header's bytes, which Node reads as Latin-1, as the UTF-8 that they mostly are. */
function readUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
