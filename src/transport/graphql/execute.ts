import { type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import { limitAnswer } from '../answer-size.ts';

/** Executes a query or mutation for every GraphQL transport: see `limitAnswer`. */
export async function executeWithinLimit(args: ExecutionArgs): Promise<ExecutionResult> {
  return limitAnswer(await execute(args));
}
