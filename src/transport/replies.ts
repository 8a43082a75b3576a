import { z } from 'zod';
import { ERROR_STATUS, readErrorCode } from '../errors.ts';
import { exampleId } from './wire.ts';

const runId = z.string().meta({ description: "The run's id.", examples: [exampleId('run')] });

const latencyMs = z
  .int()
  .min(0)
  .meta({ description: 'Milliseconds from the request to the end of the run.', examples: [612] });

const runFacts = {
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

const response = z
  .string()
  .meta({ description: "The agent's reply.", examples: ['Hello! How can I help?'] });

export const chatReply = z
  .object({
    response,
    session_id: z
      .string()
      .meta({ description: 'The session used, yours or a new one.', examples: ['user-1'] }),
    ...runFacts,
  })
  .meta({ id: 'ChatReply' });

export const executeReply = z.object({ response, ...runFacts }).meta({ id: 'ExecuteReply' });

export const acceptedReply = z
  .object({
    run_id: runId,
    status: z
      .literal('queued')
      .meta({ description: 'The run is done as soon as can be.', examples: ['queued'] }),
  })
  .meta({ id: 'AcceptedReply' });

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
        description: 'In the order in which they began; none before the run has ended.',
      }),
    }),
  })
  .meta({ id: 'Run' });

export const runsReply = z
  .object({
    runs: z.array(runReply).meta({ description: 'Newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'RunList' });

const deploymentFacts = {
  deployment_id: z
    .string()
    .meta({ description: "The deployment's id.", examples: [exampleId('dep')] }),
  bot_id: z.string().meta({ description: 'The bot deployed.', examples: ['demo'] }),
  status: z.enum(['deployed', 'failed', 'pending']).meta({
    description:
      '`deployed`: it runs from now on. `failed`: nothing has changed, and `parse_errors` says why. `pending`: a ' +
      'channel is still being connected.',
  }),
  deployed_at: z.iso.datetime().meta({
    description: 'When the attempt ended, or was accepted while it is pending.',
    examples: ['2026-11-20T12:00:00.000Z'],
  }),
  channels: z
    .array(z.enum(['api', 'web', 'telegram']))
    .meta({ description: 'The channels that run it now.', examples: [['web']] }),
  parse_errors: z.array(z.string()).meta({
    description: 'Every mistake in the source, with its line and column; empty on success.',
    examples: [
      [],
      ['7:5 unknown setting "temprature", did you mean "temperature"? [unknown-setting]'],
    ],
  }),
  warnings: z.array(z.string()).meta({
    description: 'What is to be looked at, and keeps nothing from running.',
    examples: [[]],
  }),
};

const rolledBackTo = z
  .string()
  .nullable()
  .meta({ description: 'The earlier deployment that a rollback repeated.' });

export const deployReply = z.object(deploymentFacts).meta({ id: 'DeployReply' });

export const rollbackReply = z
  .object({
    ...deploymentFacts,
    rolled_back_to: rolledBackTo.meta({ examples: ['dep_01m79x4c1hf6kvt3q8ys2e5rwd'] }),
  })
  .meta({ id: 'RollbackReply' });

export const deploymentsReply = z
  .object({
    deployments: z
      .array(
        z
          .object({
            ...deploymentFacts,
            environment: z.enum(['production', 'staging']),
            message: z
              .string()
              .nullable()
              .meta({
                description: "The deployer's note.",
                examples: ['First release'],
              }),
            active: z.boolean().meta({ description: 'Whether this is the one that runs.' }),
            rolled_back_to: rolledBackTo,
          })
          .meta({ id: 'Deployment' }),
      )
      .meta({ description: 'Newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'DeploymentList' });

/** The closed list. Source: `ERROR_STATUS`. */
const errorCode = z
  .enum(Object.keys(ERROR_STATUS).map(readErrorCode))
  .meta({ description: 'What programs go by: one of a closed list.' });

/** The form of every error. Source: the API document, "Errors". */
export const errorReply = z
  .object({
    error: z.object({
      code: errorCode,
      message: z.string().meta({ description: 'The same for people.' }),
      retry_after: z
        .int()
        .min(1)
        .optional()
        .meta({ description: 'Whole seconds to wait; with `rate_limit_exceeded` alone.' }),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({
          description: 'All that is wrong with the request, and where: a dotted path.',
        }),
      request_id: z.string().meta({
        description: 'The same as in the header `X-Request-Id`.',
        examples: [exampleId('req')],
      }),
    }),
  })
  .meta({ id: 'Error' });
function nextCursor() {
  return z
    .string()
    .nullable()
    .meta({ description: '`cursor` of the next page; `null`: this is the last.' });
}
