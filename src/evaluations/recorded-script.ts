import type { Script } from '../agent/scripted-agent.ts';
import { shownArguments } from '../agent/toolbox.ts';
import type { Redactor } from '../redaction/redact.ts';
import { digestOf } from '../runs/tool-calls/tool-call.ts';
import type { RecordedRun } from './recorded-run.ts';
import { memoryOf, takeInTurn } from './script-parts.ts';

/** How a result of a failed call begins. The agent adds it again. */
const ERROR = 'Error: ';

/**
 * Answers the tools of a replay from the calls of its run: the same tool with equal arguments gets the recorded result, in
 * any order. Equal calls get their results in turn, and the last one repeats. Memory is a copy of the recorded memory.
 */
export function createRecordedScript(run: RecordedRun, redactor: Redactor) {
  const facts: Record<string, string> = { ...run.recollection?.facts };
  const take = takeInTurn(Map.groupBy(run.calls, ({ digest }) => digest));
  const unrecorded: string[] = [];

  const script: Script = {
    memory: memoryOf(facts),
    now: new Date(run.now),
    tools: run.calls.map(({ name }) => name),
    answers: () => false,
    answer(tool, _input, given) {
      const text = shownArguments(JSON.stringify(given), redactor);
      const call = take(digestOf(tool, JSON.parse(text)));
      if (!call) {
        unrecorded.push(`${tool} ${text}`);
        return undefined;
      }
      const { result, failed } = call;
      if (failed && result.startsWith(ERROR))
        return { text: result.slice(ERROR.length), isError: true };
      return { text: result, isError: false };
    },
  };
  return { script, facts, unrecorded };
}
