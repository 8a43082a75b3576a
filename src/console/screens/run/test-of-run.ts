import { RunToolCalls } from '../../../generated/operations/console.ts';
import { ask } from '../../server/operations.ts';
import type { ShownRun } from './use-run.ts';
import { writeTestOfRun } from './written-test.ts';

/**
 * Reads the tool calls of a run, and writes a test from it.
 *
 * @returns the block, or why it cannot be written.
 */
export async function testOfRun(run: ShownRun): Promise<{ test: string } | { problem: string }> {
  const { data, problem } = await ask(RunToolCalls, { id: run.id });
  if (problem) return { problem: problem.message };
  return writeTestOfRun(run, data.run?.toolCalls ?? []);
}
