import type { Actor } from '../accounts/audit.ts';
import type { JsonObject } from '../text/json.ts';

/** A person's decision on a waiting call. */
export type Decision = {
  decision: 'APPROVE' | 'DENY';
  /** For the user and the log, at most 2,000 characters. */
  note: string | undefined;
  /** Arguments in place of the model's. Only with `APPROVE`. */
  arguments: JsonObject | undefined;
};

/** Who decides: a key, or a chat of Telegram that the definition names. */
export type Decider = Actor & { chatId?: bigint };
