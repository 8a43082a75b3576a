import type { ToolCall } from '../model/model.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import type { Redactor } from '../redaction/redact.ts';
import { ATTRIBUTE, OPERATION, OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import type { Asked } from '../runs/tool-calls/ask.ts';
import type { Ledger, NewToolCall } from '../runs/tool-calls/ledger.ts';
import {
  digestOf,
  type ToolCallRecord,
  type ToolCallStatus,
} from '../runs/tool-calls/tool-call.ts';
import type { Span } from '../runs/trace/trace.ts';
import { questionOf } from './question.ts';
import { createSendCall, redactedRequest, type SentCall, UNKNOWN_OUTCOME } from './send-call.ts';
import { parseArguments } from './tools/arguments.ts';
import { type PreparedCall, type Tool, type ToolContext, ToolError } from './tools/tool.ts';
import { displayName, shorten } from './untrusted-text.ts';

/** An event of a tool call. Its texts hold no values of variables. */
export type ToolEvent =
  | {
      type: 'ToolStarted';
      name: string;
      /** For the visitors of a chat page. */
      label: string | undefined;
      callId: string;
      /** The id of the call's record. */
      recordId: string;
      /** The text of a JSON object. */
      arguments: string;
    }
  | {
      type: 'ToolFinished';
      name: string;
      callId: string;
      recordId: string;
      status: ToolCallStatus;
      failed: boolean;
      durationMs: number;
      /** What the model gets. */
      result: string;
    };

/** The run's values for its tool calls, and the parent of their spans. */
export type RunContext = Omit<ToolContext, 'span'> & { span: Span };

/**
 * Runs one tool call. A failed call, also one of an unknown tool, has an error text for the model. A call that needs the
 * approval of a person is stored and not sent. A call that an earlier attempt at the run has made is not sent again: the
 * model gets the stored result.
 *
 * @param tool undefined for an unknown tool.
 * @param shown the call as it is recorded.
 * @param emit receives the events of the call.
 * @returns the text for the model.
 * @throws an error if a call that may change something, or that waits, could not be recorded. It was not sent.
 */
export type CallTool = (
  tool: Tool | undefined,
  call: ToolCall,
  shown: Pick<ToolCall, 'name' | 'arguments'>,
  context: RunContext,
  emit: (event: ToolEvent) => void,
) => Promise<string>;

/** Characters of a call id in events. Some servers put a signature of several KiB into the id. */
export const MAX_CALL_ID = 256;
const NOT_HAPPENED = 'It has not happened. Tell the user, and do not call it again.';
export const WAITING = `This call waits for approval by a person. ${NOT_HAPPENED}`;
const RESULT_NOT_STORED =
  'An earlier attempt at this run has made this call. Its result is not stored. Do not repeat it.';

/** The results of calls that were not sent and have no stored result, for the model. */
const NOT_SENT: Partial<Record<ToolCallStatus, string>> = {
  WAITING,
  DENIED: `A person denied this call. ${NOT_HAPPENED}`,
  EXPIRED: `Nobody approved this call in time. ${NOT_HAPPENED}`,
  REFUSED: `Error: This call was refused. ${NOT_HAPPENED}`,
};

/** Why a person is not asked, for the model. */
const NOT_ASKED: Record<Exclude<Asked, 'asked' | 'lost'>, string> = {
  equal: `An equal call waits for approval by a person already. ${WAITING}`,
  full: 'Error: Too many calls wait for approval. This call has not happened. Tell the user.',
  draft:
    'Error: This call needs approval by a person, and a draft cannot ask for it. It has not happened. Deploy the agent to try it.',
};

export function createCallTool({
  deploymentId,
  approvers,
  ledger,
  redactor,
  observer,
  log,
}: {
  deploymentId: string;
  /** The chats of Telegram that are asked for approval. */
  approvers: readonly number[];
  ledger: Pick<Ledger, 'earlier' | 'open' | 'writeAhead' | 'ask' | 'finish'>;
  redactor: Redactor;
  observer: Observer;
  log: Log;
}): CallTool {
  const { send, failureOf } = createSendCall({ redactor, log });

  const ask = async (
    tool: Tool,
    prepared: PreparedCall,
    call: ToolCall,
    record: ToolCallRecord,
    { values }: ToolContext,
  ): Promise<SentCall> => {
    const question = questionOf(tool, prepared, call, {
      deploymentId,
      approvers,
      record,
      values,
      redactor,
    });
    if ('problem' in question) return failureOf(new ToolError(question.problem), record.name);
    const asked = await ledger.ask(record, question);
    if (asked === 'asked') return { status: 'WAITING', result: WAITING };
    return { status: 'REFUSED', result: NOT_ASKED[asked] };
  };

  const perform = async (
    tool: Tool | undefined,
    call: ToolCall,
    record: ToolCallRecord,
    context: ToolContext,
  ): Promise<SentCall> => {
    let prepared: PreparedCall;
    try {
      if (!tool) {
        const message = `There is no tool "${displayName(call.name, redactor)}".`;
        throw new ToolError(message, { type: 'unknown_tool' });
      }
      prepared = tool.prepare(parseArguments(call.arguments), context);
    } catch (error) {
      return failureOf(error, record.name);
    }
    if (tool.approval) return ask(tool, prepared, call, record, context);
    const request = redactedRequest(prepared, redactor);
    if (tool.effect === 'reads') record.request = request;
    else await ledger.writeAhead(record, request);
    return send(tool, prepared, record.idempotencyKey, context.signal);
  };

  /** The outcome that an earlier attempt has stored; undefined if the call may be sent. */
  const storedOutcome = (record: ToolCallRecord, tool: Tool | undefined): SentCall | undefined => {
    const { status, result } = record;
    // The worker of approvals, not the run, sends an approved call again.
    const isRepeatable = tool?.effect === 'repeatable' && !tool.approval;
    if (status === 'UNKNOWN') return isRepeatable ? undefined : { status, result: UNKNOWN_OUTCOME };
    return { status, result: result ?? NOT_SENT[status] ?? RESULT_NOT_STORED };
  };

  return async (tool, call, { name, arguments: text }, context, emit) => {
    const opened = newCallOf(call.id, { name, arguments: text }, redactor);
    const { callId } = opened;
    const earlier = ledger.earlier(opened);
    const record = earlier ?? ledger.open(opened);
    const recordId = record.id;
    const startedAt = performance.now();
    const label = tool?.label;
    emit({ type: 'ToolStarted', name, label, callId, recordId, arguments: text });
    const span = traceCall(context.span, { name: tool?.name, callId, recordId });
    const stored = earlier && storedOutcome(earlier, tool);
    const sent = stored ?? (await perform(tool, call, record, { ...context, span }));
    const { status, result, errorType, isStopped } = sent;
    if (!stored && status !== 'WAITING') await ledger.finish(record, sent);
    // If the run was aborted, the run ends this span with its own reason.
    if (!isStopped) span.end(errorType);
    const milliseconds = performance.now() - startedAt;
    observer.toolCalled(milliseconds / 1_000);
    const durationMs = Math.round(milliseconds);
    const failed = status !== 'COMPLETED' && status !== 'WAITING';
    emit({ type: 'ToolFinished', name, callId, recordId, status, failed, durationMs, result });
    return result;
  };
}

/** The facts of a call for its record. @param shown the call as it is recorded. */
export function newCallOf(
  id: string,
  shown: { name: string; arguments: string },
  redactor: Redactor,
): NewToolCall {
  const digest = digestOf(shown.name, JSON.parse(shown.arguments));
  return { ...shown, callId: shorten(id, MAX_CALL_ID, redactor), digest };
}

/** Begins the span of a call. A trace names known tools only. */
function traceCall(
  parent: Span,
  { name, callId, recordId }: { name: string | undefined; callId: string; recordId: string },
): Span {
  return parent.begin(name ? `${OPERATION.executeTool} ${name}` : OPERATION.executeTool, {
    [ATTRIBUTE.operation]: OPERATION.executeTool,
    [ATTRIBUTE.toolName]: name,
    [ATTRIBUTE.toolType]: 'function',
    [ATTRIBUTE.toolCallId]: callId,
    [OWN_ATTRIBUTE.toolCallRecord]: recordId,
  });
}
