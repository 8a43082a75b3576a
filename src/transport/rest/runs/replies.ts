import { z } from 'zod';
import { nextCursor } from '../replies.ts';
import { exampleId } from '../wire.ts';

export const runId = z
  .string()
  .meta({ description: "The run's id.", examples: [exampleId('run')] });

const latencyMs = z
  .int()
  .min(0)
  .meta({ description: 'Milliseconds from the request to the end of the run.', examples: [612] });

/** What every answer of a run that is over says of it. */
export const runFacts = {
  run_id: runId,
  latency_ms: latencyMs,
  tokens_used: z
    .int()
    .min(0)
    .meta({ description: 'Tokens of the prompts and the reply together.', examples: [56] }),
  tools_called: z
    .array(z.string())
    .meta({ description: 'The capabilities used, in call order.', examples: [['memory.save']] }),
};

const moment = z.iso.datetime().meta({ examples: ['2026-11-20T12:00:00.000Z'] });

const span = z
  .object({
    span_id: z.string().meta({ description: '16 hex digits.', examples: ['b7ad6b7169203331'] }),
    parent_id: z.string().nullable().meta({
      description:
        'The span that this is a part of; of the first one your own, where you sent a `traceparent`.',
    }),
    name: z.string().meta({ examples: ['chat gpt-5-mini'] }),
    started_at: moment,
    duration_ms: z
      .number()
      .min(0)
      .meta({ examples: [412.5] }),
    status: z.string().meta({
      description: '`unset`, `ok` or `error`; what went well is left `unset`.',
      examples: ['unset'],
    }),
    attributes: z.record(z.string(), z.json()).meta({
      override: { type: 'object', additionalProperties: true },
      description:
        "By OpenTelemetry's conventions for generative AI, or `parley.*`: names and counts, never what was said.",
      examples: [{ 'gen_ai.usage.input_tokens': 42 }],
    }),
  })
  .meta({ id: 'Span' });

export const runReply = z
  .object({
    run_id: runId,
    bot_id: z.string().meta({ description: 'Whose run it is.', examples: ['demo'] }),
    deployment_id: z
      .string()
      .nullable()
      .meta({ description: 'The deployment that it ran on.', examples: [exampleId('dep')] }),
    environment: z.enum(['production', 'staging']),
    kind: z
      .enum(['chat', 'execute'])
      .meta({ description: 'A message of a conversation, or a prompt by itself.' }),
    status: z
      .enum(['queued', 'running', 'completed', 'failed', 'cancelled'])
      .meta({ description: 'How the run stands now.', examples: ['completed'] }),
    channel: z.enum(['api', 'web', 'telegram']).meta({ description: 'Where it came from.' }),
    session_id: z
      .string()
      .nullable()
      .meta({ description: 'The conversation, where there is one.', examples: ['user-1'] }),
    input: z.string().meta({ description: 'What the bot was told.', examples: ['Hello!'] }),
    response: z
      .string()
      .nullable()
      .meta({
        description: 'What it said; of a run that was cut short, so much as it had said.',
        examples: ['Hello! How can I help?'],
      }),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why it failed.', examples: [null] }),
    model: z
      .string()
      .nullable()
      .meta({ description: 'The model that was asked.', examples: ['gpt-5-mini'] }),
    started_at: moment.nullable(),
    finished_at: moment.nullable(),
    latency_ms: latencyMs.nullable(),
    tokens_used: runFacts.tokens_used,
    prompt_tokens: z
      .int()
      .min(0)
      .meta({ examples: [42] }),
    completion_tokens: z
      .int()
      .min(0)
      .meta({ examples: [14] }),
    tools_called: runFacts.tools_called,
    trace: z.object({
      trace_id: z
        .string()
        .meta({ description: '32 hex digits.', examples: ['0af7651916cd43dd8448eb211c80319c'] }),
      spans: z.array(span).meta({
        description:
          'In the order in which they began; none before the run has ended. Where it was interrupted, as far as they were stored.',
      }),
    }),
  })
  .meta({ id: 'Run' });

/** What a stopped run is for a key that may not read it. */
export const stoppedRunReply = runReply
  .extend({ input: runReply.shape.input.nullable(), trace: runReply.shape.trace.nullable() })
  .meta({
    id: 'StoppedRun',
    description:
      'The run; where the key lacks the scope `runs`, null in place of `deployment_id`, `input`, `response`, `error` and `trace`.',
  });

export const runsReply = z
  .object({
    runs: z.array(runReply).meta({ description: 'Newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'RunList' });
