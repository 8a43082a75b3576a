import { RunToolCalls } from '../../../generated/operations/console.ts';
import { writeTest } from '../../../language/test-block.ts';
import { ask } from '../../server/operations.ts';
import { isRecord } from '../../server/record.ts';
import type { ShownRun } from './use-run.ts';

/** Characters of a message that name a test. */
const MAX_NAME = 80;
/** Characters of a reply that the model which judges compares with. */
const MAX_REPLY = 1_000;

/**
 * Writes a test from a run: its message and context, the results of its tools, and a comparison with its reply. The history
 * and the memory of its session are not part of it.
 *
 * @returns the block, or why it cannot be written.
 */
export async function testOfRun(run: ShownRun): Promise<{ test: string } | { problem: string }> {
  const { id, input, context, response } = run;
  const { data, problem } = await ask(RunToolCalls, { id });
  if (problem) return { problem: problem.message };
  const calls = (data.run?.toolCalls ?? []).filter(({ name }) => name.includes('.'));
  if (calls.some((call) => call.result === null || call.arguments === null))
    return { problem: 'The results of the tools of this run are no longer stored.' };
  const reply = response?.trim().slice(0, MAX_REPLY).toWellFormed();
  const test = writeTest({
    name:
      input.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME).toWellFormed() || 'a recorded run',
    context: isRecord(context) && Object.keys(context).length > 0 ? context : undefined,
    turns: [input],
    calls: calls.map((call) => ({
      name: call.name,
      arguments: isRecord(call.arguments) ? call.arguments : {},
      result: call.result ?? '',
      failed: call.status === 'FAILED',
    })),
    expectations: reply ? [{ type: 'judged', text: `It says in substance: ${reply}` }] : [],
  });
  return { test };
}
