import type { UIMessageChunk } from 'ai';

/** What a message of the AI SDK knows of its run, as `metadata`. */
export type ParleyMetadata = {
  /** ID of the run. */
  runId: string;
  /** Session ID of the conversation. */
  sessionId: string;
  /** Time from the request to the end of the run, in milliseconds. Known at its end. */
  latencyMs?: number;
  /** Known at the end of the run. */
  usage?: { totalTokens: number };
};

/** An event of a run, with the members that this transport selects. */
export type UIEvent = { seq: number } & (
  | { type: 'RunStarted'; runId: string; sessionId: string }
  | { type: 'TextDelta'; delta: string }
  | { type: 'ToolStarted'; name: string; callId: string; arguments: object | null }
  | {
      type: 'ToolFinished';
      callId: string;
      status: string | null;
      failed: boolean;
      result: string | null;
    }
  | { type: 'ChatDone'; latencyMs: number; tokensUsed: number }
  | { type: 'ChatFailed'; message: string }
  | { type: 'ChatCancelled' }
);

/** The selection of `UIEvent`. */
export const UI_EVENTS =
  '{type:__typename ...on RunStarted{seq runId sessionId}...on TextDelta{seq delta}...on ToolStarted{seq name callId arguments}...on ToolFinished{seq callId status failed result}...on ChatDone{seq latencyMs tokensUsed}...on ChatFailed{seq message}...on ChatCancelled{seq}}';

/** The server has run the tool, and the page has no schema of it. */
const BY_SERVER = { providerExecuted: true, dynamic: true };

/** Creates the function that turns each event of a run into chunks of a message of the AI SDK. */
export function createChunks(): (event: UIEvent) => UIMessageChunk[] {
  let run: ParleyMetadata;
  /** The number of texts so far, and whether the last one is open. */
  let texts = 0;
  let isOpen = false;

  /** Ends the open text before another part. */
  const closing = (...chunks: UIMessageChunk[]): UIMessageChunk[] => {
    if (isOpen) chunks.unshift({ type: 'text-end', id: `${texts}` });
    isOpen = false;
    return chunks;
  };

  return (event) => {
    switch (event.type) {
      case 'RunStarted': {
        const { runId, sessionId } = event;
        run = { runId, sessionId };
        return closing({ type: 'start', messageId: runId, messageMetadata: run });
      }
      case 'TextDelta': {
        const begins = !isOpen;
        if (begins) texts += 1;
        isOpen = true;
        const id = `${texts}`;
        const delta: UIMessageChunk = { type: 'text-delta', id, delta: event.delta };
        return begins ? [{ type: 'text-start', id }, delta] : [delta];
      }
      case 'ToolStarted': {
        const { callId: toolCallId, name: toolName, arguments: given } = event;
        const input = given ?? {};
        return closing({ type: 'tool-input-available', toolCallId, toolName, input, ...BY_SERVER });
      }
      case 'ToolFinished': {
        const { callId: toolCallId, status, failed, result: output } = event;
        // Another person decides, elsewhere: the approval has no other ID on this page.
        if (status === 'WAITING')
          return [{ type: 'tool-approval-request', approvalId: toolCallId, toolCallId }];
        if (!failed) return [{ type: 'tool-output-available', toolCallId, output, ...BY_SERVER }];
        const errorText = output ?? 'The tool failed.';
        return [{ type: 'tool-output-error', toolCallId, errorText, ...BY_SERVER }];
      }
      case 'ChatDone': {
        const { latencyMs, tokensUsed: totalTokens } = event;
        const data = { ...run, latencyMs };
        const messageMetadata = { ...data, usage: { totalTokens } };
        return closing(
          { type: 'data-parley-run', data },
          { type: 'finish', finishReason: 'stop', messageMetadata },
        );
      }
      case 'ChatFailed':
        return closing({ type: 'error', errorText: event.message });
      case 'ChatCancelled':
        return closing({ type: 'abort' });
    }
  };
}
