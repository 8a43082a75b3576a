import { z } from 'zod';
import { chatMessage, expected, runMetadata, sessionId } from '../../../input.ts';
import { jsonObject, ofObject } from '../../../json.ts';
import { conversation, environment, NOT_AN_OBJECT, oneOf, repeatHeaders } from '../wire.ts';

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

const ANY_OBJECT = { override: { type: 'object', additionalProperties: true } } as const;

const context = jsonObject
  .meta(ANY_OBJECT)
  .optional()
  .meta({
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
      metadata: runMetadata
        .meta(ANY_OBJECT)
        .optional()
        .meta({
          description: 'Your own notes on the run, stored with it: at most 64 KiB.',
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

export const streamQuery = z.object({
  session_id: conversation
    .optional()
    .meta({ description: conversation.description, examples: ['user-1'] }),
  environment,
});

export const chatQuery = streamQuery.extend({ message });

/** A header's bytes, which Node reads as Latin-1, as the UTF-8 that they mostly are. */
function readUtf8(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
