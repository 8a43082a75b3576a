import { z } from 'zod';

/**
 * What a definition means, once it is read and checked: the form that is stored with a deployment and run.
 * Pure: also for browsers.
 */
export const definitionSchema = z.object({
  /** The agent's name, for people. */
  name: z.string(),
  description: z.string().optional(),
  /** What is left out is the operator's default. */
  model: z
    .object({
      name: z.string().optional(),
      /** 0 to 2. */
      temperature: z.number().optional(),
      /** Completion tokens, at most. */
      maxTokens: z.int().optional(),
      /** Milliseconds for one model call. */
      timeout: z.int().default(60_000),
    })
    .prefault({}),
  /** The system prompt. */
  prompt: z.string(),
  /** How many of the latest messages are sent to the model: 0 to 500. */
  history: z.int().default(40),
  channels: z.array(z.enum(['WEB', 'TELEGRAM'])).default([]),
});

export type Definition = z.infer<typeof definitionSchema>;
