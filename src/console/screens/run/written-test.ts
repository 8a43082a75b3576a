import type { RunToolCallsQuery } from '../../../generated/operations/console.ts';
import { writeTest } from '../../../language/test-block.ts';
import { isRecord } from '../../server/record.ts';
import type { ShownRun } from './use-run.ts';

type RecordedCall = Pick<
  NonNullable<RunToolCallsQuery['run']>['toolCalls'][number],
  'name' | 'arguments' | 'result' | 'status'
>;

/** Characters of a message that name a test. */
const MAX_NAME = 80;
/** Characters of a reply that the model which judges compares with. */
const MAX_REPLY = 1_000;
/** The most calls of a test. The language allows 100 answers of tools and 100 expectations. */
const MAX_CALLS = 99;
/** The answer of a call that has none yet: it waits for a person, or a person did not approve it. */
const WAITING = 'This call waits for approval by a person. It has not happened.';
/** Before the reason in the result of a failed call. The language writes it for an answer that `fails`. */
const ERROR = 'Error: ';

/**
 * Writes a test from a run: its message and context, the results of its tools, and a comparison with its reply. The history
 * and the memory of its session are not part of it, nor are calls beyond a limit.
 *
 * @returns the block, or why it cannot be written.
 */
export function writeTestOfRun(
  { input, context, response }: Pick<ShownRun, 'input' | 'context' | 'response'>,
  toolCalls: readonly RecordedCall[],
): { test: string } | { problem: string } {
  const calls = toolCalls
    .filter(({ name, status }) => name.includes('.') && status !== 'REFUSED')
    .slice(0, MAX_CALLS)
    .map(({ name, arguments: given, status, result }) => ({
      name,
      arguments: isRecord(given) ? given : undefined,
      result: result ?? (ASKED.has(status) ? WAITING : undefined),
      failed: status !== 'COMPLETED' && result?.startsWith(ERROR) === true,
    }));
  if (calls.some((call) => call.result === undefined || call.arguments === undefined))
    return { problem: 'The results of the tools of this run are no longer stored.' };
  const reply = response?.trim().slice(0, MAX_REPLY).toWellFormed();
  const test = writeTest({
    name:
      input.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME).toWellFormed() || 'a recorded run',
    context: isRecord(context) && Object.keys(context).length > 0 ? context : undefined,
    turns: [input],
    calls: calls.map(({ name, arguments: given = {}, result = '', failed }) => ({
      name,
      arguments: given,
      result: failed ? result.slice(ERROR.length) : result,
      failed,
    })),
    expectations: reply ? [{ type: 'judged', text: `It says in substance: ${reply}` }] : [],
  });
  return { test };
}

const ASKED: ReadonlySet<string> = new Set(['WAITING', 'DENIED', 'EXPIRED']);
