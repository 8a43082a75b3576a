import type {
  ConversationQuery,
  ToolCallsOfRunsQuery,
} from '../../generated/operations/console.ts';
import type { Piece, Turn } from './turn.ts';

type StoredSession = NonNullable<NonNullable<ConversationQuery['bot']>['session']>;
export type StoredMessage = StoredSession['messages']['edges'][number]['node'];
export type Fact = StoredSession['memory'][number];
type FoundRun = Extract<NonNullable<ToolCallsOfRunsQuery['nodes'][number]>, { id: string }>;
export type StoredCall = FoundRun['toolCalls'][number];

/** The records of the tool calls of runs, by the ids of the runs. */
export type CallsByRun = ReadonlyMap<string, readonly StoredCall[]>;

const STATES = {
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'stopped',
  QUEUED: 'waiting',
  RUNNING: 'streaming',
} as const;

/** The turns of stored messages: each run is a turn. */
export function turnsOf(messages: StoredMessage[], calls: CallsByRun): Turn[] {
  return [...Map.groupBy(messages, ({ run }) => run.id).values()].flatMap((ofRun) => {
    const [first] = ofRun;
    if (!first) return [];
    const { id, status, createdAt, latencyMs, tokensUsed, feedback } = first.run;
    const records = recordsOf(ofRun, calls.get(id) ?? []);
    return [
      {
        id,
        runId: id,
        message: ofRun.find(({ role }) => role === 'USER')?.text ?? '',
        notice: ofRun.find(({ role }) => role === 'SYSTEM')?.text,
        createdAt,
        state: STATES[status],
        latencyMs: latencyMs ?? undefined,
        tokens: tokensUsed,
        feedback,
        pieces: ofRun.flatMap((message) => pieceOf(message, records.get(message.id))),
      },
    ];
  });
}

/**
 * The records of the calls that messages answer, by the ids of the messages. Both are in the order of the calls. The first
 * messages of a run may not be read yet, so the last message belongs to the last call.
 */
function recordsOf(
  messages: StoredMessage[],
  calls: readonly StoredCall[],
): Map<string, StoredCall> {
  const records = new Map<string, StoredCall>();
  const answers = messages.filter(({ role }) => role === 'TOOL');
  let at = calls.length - 1;
  for (const { id, toolName } of answers.reverse()) {
    while (at >= 0 && calls[at]?.name !== toolName) at -= 1;
    const call = calls[at];
    if (call) records.set(id, call);
    at -= 1;
  }
  return records;
}

/** The piece of the reply that a message is. A model that only calls tools returns no text. */
function pieceOf({ id, role, text, toolName }: StoredMessage, call?: StoredCall): Piece[] {
  if (role === 'USER' || role === 'SYSTEM') return [];
  if (role === 'ASSISTANT') return text ? [{ type: 'text', text, from: 0, to: 0 }] : [];
  const name = toolName ?? 'unknown tool';
  const facts = {
    status: call?.status,
    input: call?.arguments ?? undefined,
    ms: call?.durationMs ?? undefined,
  };
  return [{ type: 'tool', callId: id, name, from: 0, result: text, ...facts }];
}
