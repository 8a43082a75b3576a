import { z } from 'zod';
import { chatReply } from './chat-wire.ts';
import { errorReply } from './replies.ts';
import { runReply } from './run-wire.ts';

const { run_id, latency_ms } = chatReply.shape;

/** Empty in frames without text, so that a client that concatenates every `delta` ignores them. */
const delta = z.literal('').meta({ description: 'Empty: the frame has no text.' });

/** The discriminator of a frame without text. */
const event = <Name extends string>(name: Name) =>
  z.literal(name).meta({ description: 'Kind of the frame.' });

const textFrame = z
  .object({
    delta: z.string().meta({ description: 'A fragment of the reply.', examples: ['Hello'] }),
  })
  .meta({
    id: 'TextFrame',
    description: 'A fragment of the reply. The fragments in order form the reply.',
  });

const errorFrame = z.object({ event: event('error'), delta, ...errorReply.shape }).meta({
  id: 'ErrorFrame',
  description: 'Why the run failed, or why the stream ended early. A done frame follows.',
});

const doneFrame = z
  .object({
    event: event('done'),
    run_id,
    latency_ms,
    status: runReply.shape.status.extract(['failed', 'cancelled']).optional().meta({
      description: 'Present only if the reply is incomplete.',
    }),
  })
  .meta({ id: 'DoneFrame', description: 'Last frame of a stream.' });

const runStartedFrame = z
  .object({
    event: event('run_started'),
    delta,
    run_id,
    session_id: z.string().nullable().meta({
      description: 'Session ID of the conversation. Null for a run outside any conversation.',
    }),
  })
  .meta({ id: 'RunStartedFrame', description: 'The run started.' });

const tool = {
  name: z.string().meta({
    description: 'Name of the tool, as `<group>.<capability>`.',
    examples: ['memory.save'],
  }),
  call_id: z
    .string()
    .meta({ description: 'Identifies the tool call. Both frames of a call carry the same value.' }),
};

const OF_RUNS_KEYS = 'Only for keys with the scope `runs`, and while it is stored.';

const toolStartedFrame = z
  .object({
    event: event('tool_started'),
    delta,
    ...tool,
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: `Arguments of the call. ${OF_RUNS_KEYS}` }),
  })
  .meta({ id: 'ToolStartedFrame', description: 'A tool call started.' });

const toolFinishedFrame = z
  .object({
    event: event('tool_finished'),
    delta,
    ...tool,
    failed: z.boolean().meta({ description: 'Whether the call failed.' }),
    duration_ms: z.int().min(0).meta({ description: 'Duration of the call in milliseconds.' }),
    result: z
      .string()
      .optional()
      .meta({ description: `What the model got: at most 64 KiB. ${OF_RUNS_KEYS}` }),
  })
  .meta({ id: 'ToolFinishedFrame', description: 'A tool call finished or failed.' });

/** A frame of a streamed reply. Source: the API document, "Events". */
export const replyFrame = z.union([textFrame, errorFrame, doneFrame]).meta({
  id: 'ReplyFrame',
  description:
    'Text frames, then one done frame. An error frame precedes the done frame of a failed run.',
});

/** A frame of a run's events: the frames of a reply, and run and tool events. */
export const eventFrame = z
  .union([textFrame, errorFrame, doneFrame, runStartedFrame, toolStartedFrame, toolFinishedFrame])
  .meta({
    id: 'EventFrame',
    description:
      'A frame with the event number in its `id` line. An error frame has no number; it belongs to the next frame.',
  });

export type Frame = z.infer<typeof eventFrame>;

export type DoneFrame = z.infer<typeof doneFrame>;
