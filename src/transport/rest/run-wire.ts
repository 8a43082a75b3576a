import { z } from 'zod';
import { CHANNEL_NAMES } from '../../vocabulary/channels.ts';
import { ENTRANCE_NAMES } from '../../vocabulary/entrances.ts';
import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { RUN_KIND_NAMES, RUN_STATUS_NAMES, RUN_TRIGGER_NAMES } from '../../vocabulary/runs.ts';
import { nextCursor } from './replies.ts';
import { toolCall } from './tool-call-wire.ts';
import { exampleId, time } from './wire.ts';

export const runId = z
  .string()
  .meta({ description: 'ID of the run.', examples: [exampleId('run')] });

const latencyMs = z
  .int()
  .min(0)
  .meta({
    description: 'Time from the request to the end of the run, in milliseconds.',
    examples: [612],
  });

/** Fields of every response with a finished run. */
export const runFacts = {
  run_id: runId,
  latency_ms: latencyMs,
  tokens_used: z
    .int()
    .min(0)
    .meta({ description: 'Sum of prompt and completion tokens.', examples: [56] }),
  tools_called: z.array(z.string()).meta({
    description:
      'Names of the tools called, as `<group>.<capability>`, in call order without repeats.',
    examples: [['memory.save']],
  }),
};

/** Absent where no structured reply was requested. */
export const output = z.record(z.string(), z.unknown()).optional().meta({
  description:
    'Structured reply: the JSON object that `response` holds as text. Absent where none was requested.',
});

const span = z
  .object({
    span_id: z
      .string()
      .meta({ description: 'Span ID, 16 hexadecimal digits.', examples: ['b7ad6b7169203331'] }),
    parent_id: z.string().nullable().meta({
      description:
        'ID of the parent span. For the root span, the span ID from the header `traceparent`, or null without one.',
    }),
    name: z.string().meta({
      description: 'Name of the operation, by the conventions of OpenTelemetry.',
      examples: ['chat gpt-5-mini'],
    }),
    started_at: time.meta({ description: 'Time at which the operation started.' }),
    duration_ms: z
      .number()
      .min(0)
      .meta({ description: 'Duration in milliseconds, with fractions.', examples: [412.5] }),
    status: z.string().meta({
      description: 'Status of the span: `unset`, `ok` or `error`. Successful spans stay `unset`.',
      examples: ['unset'],
    }),
    attributes: z.record(z.string(), z.unknown()).meta({
      description:
        "Attributes named by OpenTelemetry's GenAI conventions, or `parley.*`. They hold names and counts, never message text.",
      examples: [{ 'gen_ai.usage.input_tokens': 42 }],
    }),
  })
  .meta({ id: 'Span' });

export const runReply = z
  .object({
    run_id: runId,
    bot_id: z.string().meta({ description: 'ID of the bot.', examples: ['demo'] }),
    deployment_id: z
      .string()
      .nullable()
      .meta({
        description: 'ID of the deployment that the run uses.',
        examples: [exampleId('dep')],
      }),
    environment: z
      .enum(ENVIRONMENT_NAMES)
      .meta({ description: 'Environment in which the run was requested.' }),
    kind: z.enum(RUN_KIND_NAMES).meta({
      description:
        'Kind of the run: `chat` is a turn of a conversation, `execute` a single prompt, `draft` a chat with a definition that is not deployed. Lists hold no drafts.',
    }),
    status: z
      .enum(RUN_STATUS_NAMES)
      .meta({ description: 'Current status of the run.', examples: ['completed'] }),
    channel: z
      .enum(CHANNEL_NAMES)
      .meta({ description: 'Channel through which the run was requested.' }),
    entrance: z
      .enum(ENTRANCE_NAMES)
      .nullable()
      .meta({
        description:
          'Interface through which the client requested the run. A run after a decision on a tool call has the entrance of the run that asked. Null for runs of the channel `api` from before the entrance was stored.',
        examples: ['rest'],
      }),
    trigger: z.enum(RUN_TRIGGER_NAMES).meta({
      description:
        'What began the run. `approval`: the outcome of a tool call that a person had to approve.',
      examples: ['request'],
    }),
    caused_by: z
      .string()
      .nullable()
      .meta({
        description: 'ID of the run whose tool call was approved or denied. Null for `request`.',
        examples: [null],
      }),
    session_id: z
      .string()
      .nullable()
      .meta({
        description: 'Session ID of the conversation. Null for a run outside any conversation.',
        examples: ['user-1'],
      }),
    input: z
      .string()
      .meta({ description: 'Message or prompt sent to the bot.', examples: ['Hello!'] }),
    response: z
      .string()
      .nullable()
      .meta({
        description:
          'Text of the reply. For a run that did not complete, the text generated so far.',
        examples: ['Hello! How can I help?'],
      }),
    output,
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description: 'The `metadata` of the request that started the run. Null if it had none.',
        examples: [{ job: 'nightly' }],
      }),
    error: z
      .object({
        code: z.string().meta({ description: 'Machine-readable error code.' }),
        message: z.string().meta({ description: 'Human-readable explanation of the error.' }),
      })
      .nullable()
      .meta({
        description: 'Why the run failed. Null unless the status is `failed`.',
        examples: [null],
      }),
    model: z
      .string()
      .nullable()
      .meta({ description: 'Name of the model.', examples: ['gpt-5-mini'] }),
    created_at: time.meta({ description: 'Time of the request that started the run.' }),
    started_at: time
      .nullable()
      .meta({ description: 'Time at which a worker started the run. Null until then.' }),
    finished_at: time
      .nullable()
      .meta({ description: 'Time at which the run finished. Null until then.' }),
    latency_ms: latencyMs.nullable().meta({
      description:
        'Time from the request to the end of the run, in milliseconds. Null until the run finishes.',
      examples: [612],
    }),
    tokens_used: runFacts.tokens_used,
    prompt_tokens: z
      .int()
      .min(0)
      .meta({ description: 'Number of tokens in the prompts sent to the model.', examples: [42] }),
    completion_tokens: z
      .int()
      .min(0)
      .meta({ description: 'Number of tokens that the model generated.', examples: [14] }),
    tokens_estimated: z.boolean().meta({
      description:
        "Whether the numbers of tokens are estimates, because the model's server reported none.",
      examples: [false],
    }),
    cached_tokens: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          "Number of tokens in the prompts that came from a cache of the model's server. Null if it reported none.",
        examples: [0],
      }),
    reasoning_tokens: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          "Number of generated tokens that are reasoning. Null if the model's server reported none.",
        examples: [0],
      }),
    finish_reason: z
      .string()
      .nullable()
      .meta({
        description:
          'Why the model ended its last answer, as its server says it: `stop`, `length`, `tool_calls`, `content_filter` or another word; `unknown` if the server did not say. Null if the model ended no answer.',
        examples: ['stop'],
      }),
    tools_called: runFacts.tools_called,
    tool_calls: z.array(toolCall).meta({
      description:
        'Tool calls in order. While the run is active, only calls that may change something.',
    }),
    trace: z
      .object({
        trace_id: z.string().meta({
          description: 'Trace ID, 32 hexadecimal digits.',
          examples: ['0af7651916cd43dd8448eb211c80319c'],
        }),
        spans: z.array(span).meta({
          description:
            'Spans ordered by start time. Empty until the run finishes; an interrupted run has the spans stored before the interruption.',
        }),
      })
      .meta({ description: 'Trace of the run.' }),
  })
  .meta({ id: 'Run' });

/** The response to a cancellation. Keys without the scope `runs` see no contents of the run. */
export const stoppedRunReply = runReply
  .extend({
    input: runReply.shape.input
      .nullable()
      .meta({ description: 'Message or prompt sent to the bot.', examples: ['Hello!'] }),
    trigger: runReply.shape.trigger.nullable().meta({ description: 'What began the run.' }),
    tool_calls: runReply.shape.tool_calls.nullable().meta({ description: 'Tool calls in order.' }),
    trace: runReply.shape.trace.nullable().meta({ description: 'Trace of the run.' }),
  })
  .meta({
    id: 'StoppedRun',
    description:
      'The run. Without the scope `runs`, `deployment_id`, `input`, `response`, `metadata`, `error` and `trace` are null.',
  });

export const runsReply = z
  .object({
    runs: z.array(runReply).meta({ description: 'Runs, newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'RunList' });
