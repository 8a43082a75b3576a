import { noteAway } from './connection.ts';
import { AWAY, type Problem } from './problem.ts';

/** A request that the server refused, or a stream that cannot be read. */
export class ChatProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem, options?: ErrorOptions) {
    super(problem.message, options);
    this.problem = problem;
  }
}

/** Converts an error of a request or a stream. Any other error than a refusal is a lost connection. */
export function chatProblem(error: unknown): ChatProblem {
  if (error instanceof ChatProblem) return error;
  noteAway();
  return new ChatProblem(AWAY, { cause: error });
}
