import type { Channel, RunKind } from '../generated/prisma/client.ts';

/** A run whose end this process has stored. */
export type EndedRun = {
  kind: RunKind;
  channel: Channel;
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  /** The usage of the run; `undefined` if no process executed it to its end. */
  usage?: { seconds: number; promptTokens: number; completionTokens: number };
};

/**
 * Receives measurements, one for each run, call or refusal and none for a delta. The metrics implement it. Domains depend
 * only on this interface. Its functions do not throw.
 */
export type Observer = {
  runEnded(run: EndedRun): void;
  /** @param model the name that the operator configured, or `own` for every other model. */
  modelCalled(model: string, seconds: number): void;
  /** A model call failed, after its retry. @param reason one of `FailureReason` in `model/failure.ts`. */
  modelFailed(reason: string): void;
  /** A model call failed, and the next model is called in its place. */
  modelFellBack(): void;
  toolCalled(seconds: number): void;
  /** A request or operation exceeded a rate limit. */
  rateLimited(): void;
  /** A statement began or ended this many runs at once. */
  batchSent(statement: 'begin' | 'end', runs: number): void;
};

/** The observer of a server without metrics. */
export const UNOBSERVED: Observer = {
  runEnded() {},
  modelCalled() {},
  modelFailed() {},
  modelFellBack() {},
  toolCalled() {},
  rateLimited() {},
  batchSent() {},
};
