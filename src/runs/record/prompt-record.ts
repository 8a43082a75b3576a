import { z } from 'zod';
import type { Facts } from '../../sessions/memory.ts';
import { isJsonObject, type JsonObject } from '../../text/json.ts';

const promptRecord = z.object({
  /** The time that the templates had, ISO 8601. */
  now: z.string(),
  /** The history that was sent: the last messages of the session up to a turn. */
  history: z.object({ session: z.string(), turn: z.number(), messages: z.number() }).optional(),
  /** How many of the last messages of the request's own history were sent. Absent: all. */
  ownHistory: z.number().optional(),
  /** The facts that were sent; none beyond `MAX_FACT_BYTES`. */
  facts: z.record(z.string(), z.string()).optional(),
  /** Whether the facts were too long to store. */
  hasMoreFacts: z.boolean().optional(),
  /** The JSON Schema of a structured reply that the request asked for. */
  outputSchema: z.custom<JsonObject>(isJsonObject).optional(),
  /** The start of the rendered prompt of a draft, whose definition is not stored. */
  draft: z.string().optional(),
});

/** What a run sent to the model at first, as references to stored data, and copies of what may change. */
export type PromptRecord = z.infer<typeof promptRecord>;

/** Bytes of JSON of the facts that are stored with a run. */
const MAX_FACT_BYTES = 64 * 1024;
/** UTF-16 code units of a draft's prompt that are stored with its run. */
const MAX_DRAFT_LENGTH = 64 * 1024;

export function readPromptRecord(stored: unknown): PromptRecord {
  return promptRecord.parse(stored);
}

/** The facts as a run stores them. */
export function recordedFacts(facts: Facts): Pick<PromptRecord, 'facts' | 'hasMoreFacts'> {
  if (Object.keys(facts).length === 0) return {};
  const isLong = Buffer.byteLength(JSON.stringify(facts)) > MAX_FACT_BYTES;
  return isLong ? { hasMoreFacts: true } : { facts };
}

/** The rendered prompt of a draft as its run stores it. */
export function recordedDraft(prompt: string): string {
  return prompt.slice(0, MAX_DRAFT_LENGTH).toWellFormed();
}
