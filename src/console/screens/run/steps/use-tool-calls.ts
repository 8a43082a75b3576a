import { useEffect, useRef } from 'react';
import { RunToolCalls } from '../../../../generated/operations/console.ts';
import { useServerQuery } from '../../../server/operations.ts';
import { isRecord } from '../../../server/record.ts';
import type { ToolCallRecord } from '../../../tool-calls/tool-call-details.tsx';
import type { SpanRow } from '../../../trace/span-row.ts';
import type { ShownRun } from '../use-run.ts';

/** Reads the tool calls of a run, and again with the run: a call that waited gets its outcome after the end of the run. */
export function useToolCalls(run: ShownRun) {
  const { data, problem, retry } = useServerQuery(RunToolCalls, { id: run.id });
  const shown = useRef(run);
  useEffect(() => {
    if (shown.current !== run) retry();
    shown.current = run;
  }, [run, retry]);
  return { calls: data?.run?.toolCalls, problem, retry };
}

/** The record of the call of a step. */
export function callOf(
  { id, attributes }: SpanRow,
  calls: readonly ToolCallRecord[],
): ToolCallRecord | undefined {
  return calls.find((call) => call.id === id || isSpanOf(call, attributes));
}

/** Whether a span with these attributes is of a call. A span of an earlier version has only the model's id. */
function isSpanOf({ id, callId }: ToolCallRecord, attributes: unknown): boolean {
  if (!isRecord(attributes)) return false;
  const record = attributes['parley.tool_call.id'];
  return record === undefined ? attributes['gen_ai.tool.call.id'] === callId : record === id;
}
