import { z } from 'zod';
import { chatMessage, expected, outputSchema, runMetadata, sessionId } from '../../text/input.ts';
import { jsonObject, ofObject } from '../../text/json.ts';
import { history } from './history-wire.ts';
import { output, runFacts, runId } from './run-wire.ts';
import {
  conversation,
  environment,
  environmentHeader,
  NOT_AN_OBJECT,
  oneOf,
  queryOf,
  repeatHeaders,
} from './wire.ts';

/** Headers of every route that starts a run. */
export const runHeaders = repeatHeaders.extend({
  ...environmentHeader,
  'x-on-disconnect': oneOf('cancel', 'continue').meta({
    description:
      'What happens to the run when its last client disconnects. Defaults to `continue` with an `Idempotency-Key`, ' +
      'otherwise to `cancel`.',
  }),
  'idempotency-replay-only': z
    .enum(['true', 'false'], 'must be "true" or "false"')
    .transform((value) => value === 'true')
    .optional()
    .meta({
      description:
        'Whether to return the run that has the `Idempotency-Key` and never begin one. Without such a run, the request ' +
        'fails with `run_not_found`. Defaults to `false`.',
    }),
  traceparent: z
    .string()
    .optional()
    .meta({
      description:
        'Parent span of the run, in W3C Trace Context format. A malformed value is ignored.',
      examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    }),
  accept: z.string().default(''),
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
      'How to handle the message while the session is busy: queue it (`enqueue`) or reject it with `session_busy` ' +
      '(`reject`). Defaults to `enqueue`.',
  }),
  ...runHeaders.shape,
});

const message = chatMessage.meta({
  description: 'Message of the user, at least 1 character. Only the size of the body limits it.',
  examples: ['Hello!'],
});

const ANY_OBJECT = { override: { type: 'object', additionalProperties: true } } as const;

const context = jsonObject
  .meta(ANY_OBJECT)
  .optional()
  .meta({
    description:
      'JSON object that is passed to the model, nested at most 32 levels deep, with at most 10,000 members and entries. ' +
      'Its keys take precedence over remembered facts.',
    examples: [{ plan: 'pro' }],
  });

const stream = z.boolean(expected('a boolean')).default(false).meta({
  description:
    'Whether to stream the reply. The header `Accept` must also include `text/event-stream`. Defaults to `false`.',
});

export const chatBody = z
  .object({ message, context, stream, environment }, NOT_AN_OBJECT)
  .meta({ id: 'ChatRequest' });

export const executeBody = z
  .object(
    {
      prompt: chatMessage.meta({
        description:
          'The prompt for the bot, at least 1 character. Only the size of the body limits it.',
        examples: ['Say in one sentence what a gateway is.'],
      }),
      history,
      context,
      stream,
      background: z
        .boolean(expected('a boolean'))
        .default(false)
        .meta({
          description:
            'Whether to queue the run and return immediately. Cannot be combined with `stream`; `X-On-Disconnect` has no ' +
            'effect. Defaults to `false`.',
        }),
      environment,
      output_schema: outputSchema
        .meta(ANY_OBJECT)
        .optional()
        .meta({
          description:
            'JSON Schema of an object that the reply must fit, at most 16 KiB and nested at most 32 levels deep. It ' +
            "replaces the definition's `output`.",
          examples: [{ type: 'object', properties: { city: { type: 'string' } } }],
        }),
      metadata: runMetadata
        .meta(ANY_OBJECT)
        .optional()
        .meta({
          description:
            'JSON object to store with the run, at most 64 KiB and nested at most 32 levels deep. It is not passed to ' +
            'the model.',
          examples: [{ job: 'nightly' }],
        }),
    },
    NOT_AN_OBJECT,
  )
  .superRefine(({ stream, background }, { addIssue }) => {
    if (stream !== true || background !== true) return;
    const message = 'stream and background exclude each other';
    for (const path of [['stream'], ['background']]) addIssue({ code: 'custom', path, message });
  }, ofObject)
  .meta({ id: 'ExecuteRequest' });

const streamParameters = {
  session_id: conversation
    .optional()
    .meta({ description: conversation.description, examples: ['user-1'] }),
  environment,
};

export const streamQuery = queryOf(streamParameters);

export const chatQuery = queryOf({
  ...streamParameters,
  message: message.meta({
    description:
      'Message of the user, at least 1 character. The URL and the headers hold at most 16 KiB together.',
  }),
  idempotency_key: repeatHeaders.shape['idempotency-key'].meta({
    description:
      'As the header `Idempotency-Key`, 1 to 255 visible ASCII characters, for clients that cannot set headers. If a ' +
      'request gives both, they must be the same.',
    examples: ['order-4711'],
  }),
});

/** Node decodes headers as Latin-1, but most clients send UTF-8. */
function readUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}

const response = z
  .string()
  .meta({ description: 'Text of the reply.', examples: ['Hello! How can I help?'] });

export const chatReply = z
  .object({
    response,
    output,
    session_id: z.string().meta({
      description: 'Session ID of the conversation: the one sent, or a generated one.',
      examples: ['user-1'],
    }),
    ...runFacts,
  })
  .meta({ id: 'ChatReply' });

export const executeReply = z
  .object({ response, output, ...runFacts })
  .meta({ id: 'ExecuteReply' });

export const acceptedReply = z
  .object({
    run_id: runId,
    status: z
      .literal('queued')
      .meta({ description: 'Always `queued`: the run waits for a worker.', examples: ['queued'] }),
  })
  .meta({ id: 'AcceptedReply' });
