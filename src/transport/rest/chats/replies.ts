import { z } from 'zod';
import { runFacts, runId } from '../runs/replies.ts';

const response = z
  .string()
  .meta({ description: 'Text of the reply.', examples: ['Hello! How can I help?'] });

export const chatReply = z
  .object({
    response,
    session_id: z.string().meta({
      description: 'Session ID of the conversation: the one sent, or a generated one.',
      examples: ['user-1'],
    }),
    ...runFacts,
  })
  .meta({ id: 'ChatReply' });

export const executeReply = z.object({ response, ...runFacts }).meta({ id: 'ExecuteReply' });

export const acceptedReply = z
  .object({
    run_id: runId,
    status: z
      .literal('queued')
      .meta({ description: 'Always `queued`: the run waits for a worker.', examples: ['queued'] }),
  })
  .meta({ id: 'AcceptedReply' });
