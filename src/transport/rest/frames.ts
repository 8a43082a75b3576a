import { z } from 'zod';
import { chatReply } from './chats/replies.ts';
import { errorReply } from './replies.ts';
import { runReply } from './runs/replies.ts';

const { run_id, latency_ms } = chatReply.shape;

/** Present, and empty, in what is no text: a client that knows text alone adds nothing to it. */
const delta = z.literal('');

const textFrame = z
  .object({
    delta: z.string().meta({ description: 'A fragment of the reply.', examples: ['Hello'] }),
  })
  .meta({ id: 'TextFrame', description: 'What is said: the fragments in order are the reply.' });

const errorFrame = z.object({ event: z.literal('error'), delta, ...errorReply.shape }).meta({
  id: 'ErrorFrame',
  description:
    'Why the run has failed, or why it may not be read any longer; the done frame follows.',
});

const doneFrame = z
  .object({
    event: z.literal('done'),
    run_id,
    latency_ms,
    status: runReply.shape.status.extract(['failed', 'cancelled']).optional().meta({
      description: 'Only where the reply is not whole.',
    }),
  })
  .meta({ id: 'DoneFrame', description: 'The last frame of every stream.' });

const runStartedFrame = z
  .object({
    event: z.literal('run_started'),
    delta,
    run_id,
    session_id: z.string().nullable().meta({ description: 'Its conversation, if it has one.' }),
  })
  .meta({ id: 'RunStartedFrame', description: 'The run has begun.' });

const tool = {
  name: z.string().meta({ description: 'The capability used.', examples: ['memory.save'] }),
  call_id: z.string().meta({ description: 'Joins the two frames of one call.' }),
};

const toolStartedFrame = z
  .object({ event: z.literal('tool_started'), delta, ...tool })
  .meta({ id: 'ToolStartedFrame', description: 'A tool is being called.' });

const toolFinishedFrame = z
  .object({
    event: z.literal('tool_finished'),
    delta,
    ...tool,
    failed: z.boolean(),
    duration_ms: z.int().min(0),
  })
  .meta({ id: 'ToolFinishedFrame', description: 'The tool has answered.' });

/** A frame of a streamed reply. Source: the API document, "Events". */
export const replyFrame = z
  .union([textFrame, errorFrame, doneFrame])
  .meta({ id: 'ReplyFrame', description: 'Text frames, and then one done frame.' });

/** A frame of a run's events: those, and what else happens. */
export const eventFrame = z
  .union([textFrame, errorFrame, doneFrame, runStartedFrame, toolStartedFrame, toolFinishedFrame])
  .meta({
    id: 'EventFrame',
    description:
      'Each is numbered by its `id` line, but for an error, which belongs to the frame after it.',
  });

export type Frame = z.infer<typeof eventFrame>;

export type DoneFrame = z.infer<typeof doneFrame>;
