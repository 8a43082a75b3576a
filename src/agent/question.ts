import { valuesAt } from '../language/template.ts';
import { readArguments } from '../model/arguments.ts';
import type { ToolCall } from '../model/model.ts';
import type { Redactor } from '../redaction/redact.ts';
import { digestOfApproved, type Question } from '../runs/tool-calls/ask.ts';
import type { ToolCallRecord } from '../runs/tool-calls/tool-call.ts';
import type { JsonObject } from '../text/json.ts';
import { redactedRequest } from './send-call.ts';
import type { PreparedCall, Tool, ToolContext } from './tools/tool.ts';

/** Bytes of JSON of the template values that a waiting call keeps. */
const MAX_VALUES_BYTES = 64 * 1024;

/**
 * What a person is asked about a call.
 *
 * @returns the problem, if the call cannot wait: it could not be made again from what may be stored.
 */
export function questionOf(
  { name, approval, paths }: Tool,
  prepared: PreparedCall,
  call: ToolCall,
  {
    deploymentId,
    approvers,
    record,
    values,
    redactor,
  }: {
    deploymentId: string;
    approvers: readonly number[];
    record: Pick<ToolCallRecord, 'arguments'>;
    values: ToolContext['values'];
    redactor: Redactor;
  },
): Question | { problem: string } {
  const text = record.arguments ?? '{}';
  if (readArguments(call.arguments) !== text) {
    const reason = 'its arguments hold the value of a variable, or are too long';
    return { problem: `The call cannot wait for approval: ${reason}.` };
  }
  const used = valuesAt(values, paths) as JsonObject;
  if (Buffer.byteLength(JSON.stringify(used)) > MAX_VALUES_BYTES)
    return { problem: 'The call cannot wait for approval: its template values are over 64 KiB.' };
  return {
    reason: approval?.reason ?? null,
    expiresSeconds: approval?.expiresSeconds ?? 0,
    request: redactedRequest(prepared, redactor),
    values: used,
    digest: digestOfApproved({ deploymentId, name, arguments: text, ...prepared }),
    approvers,
  };
}
