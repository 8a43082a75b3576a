import { z } from 'zod';
import { runFacts, runId } from '../runs/replies.ts';

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
