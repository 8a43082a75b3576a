import type { ConversationQuery } from '../../generated/operations/console.ts';
import type { Piece, Turn } from './turn.ts';

type StoredSession = NonNullable<NonNullable<ConversationQuery['bot']>['session']>;
export type StoredMessage = StoredSession['messages']['edges'][number]['node'];
export type Fact = StoredSession['memory'][number];

const STATES = {
  COMPLETED: 'done',
  FAILED: 'failed',
  CANCELLED: 'stopped',
  QUEUED: 'waiting',
  RUNNING: 'streaming',
} as const;

/** The turns of stored messages: each run is a turn. */
export function turnsOf(messages: StoredMessage[]): Turn[] {
  return [...Map.groupBy(messages, ({ run }) => run.id).values()].flatMap((ofRun) => {
    const [first] = ofRun;
    if (!first) return [];
    const { id, status, createdAt, latencyMs, tokensUsed, feedback } = first.run;
    return [
      {
        id,
        runId: id,
        message: ofRun.find(({ role }) => role === 'USER')?.text ?? '',
        createdAt,
        state: STATES[status],
        latencyMs: latencyMs ?? undefined,
        tokens: tokensUsed,
        feedback,
        pieces: ofRun.flatMap(pieceOf),
      },
    ];
  });
}

/** The piece of the reply that a message is. A model that only calls tools returns no text. */
function pieceOf({ id, role, text, toolName }: StoredMessage): Piece[] {
  if (role === 'USER') return [];
  if (role === 'ASSISTANT') return text ? [{ type: 'text', text, from: 0, to: 0 }] : [];
  const name = toolName ?? 'unknown tool';
  return [{ type: 'tool', callId: id, name, state: 'done', from: 0, result: text }];
}
