import { useEffect, useMemo } from 'react';
import { Conversation } from '../../chat/conversation.tsx';
import { EarlierTurns } from '../../chat/earlier-turns.tsx';
import { isOpen, type Turn } from '../../chat/turn.ts';
import type { TurnActions } from '../../chat/turn-view.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Empty } from '../../parts/state.tsx';
import type { Half } from './half.ts';

/** The conversation with one environment. */
export function Side({
  botId,
  half: { environment, label, isDeployed, chat, earlier },
  hasTitle,
  actions,
  cannotRepeat,
  inspected,
}: {
  botId: string;
  half: Half;
  hasTitle: boolean;
  actions: TurnActions;
  cannotRepeat(turn: Turn): string | undefined;
  inspected: string | undefined;
}) {
  const turns = useMemo(() => [...earlier.turns, ...chat.turns], [earlier.turns, chat.turns]);
  useFactsAfterMemory(chat.turns.at(-1), earlier.readFacts);
  return (
    <section className="side-talk" aria-label={hasTitle ? label : undefined}>
      {hasTitle && <h2>{label}</h2>}
      <Conversation
        label={hasTitle ? `Conversation with ${label.toLowerCase()}` : 'Conversation'}
        turns={turns}
        actions={actions}
        cannotRepeat={cannotRepeat}
        inspected={inspected}
        top={<EarlierTurns stored={earlier} />}
      >
        {isDeployed ? <FirstMessage /> : <NotDeployed botId={botId} environment={environment} />}
      </Conversation>
    </section>
  );
}

/** Reads the facts again after each reply that used a tool of the memory. */
function useFactsAfterMemory(last: Turn | undefined, readFacts: () => void): void {
  const hasChanged =
    last !== undefined &&
    !isOpen(last) &&
    last.pieces.some((piece) => piece.type === 'tool' && piece.name.startsWith('memory.'));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each such turn
  useEffect(() => {
    if (hasChanged) readFacts();
  }, [hasChanged, last?.id]);
}

function FirstMessage() {
  return (
    <Empty title="Say hello">
      <p>
        The reply streams in as the model writes it. Beside it you see its request, its frames, its
        trace, and the code that sends the same call.
      </p>
    </Empty>
  );
}

function NotDeployed({ botId, environment }: { botId: string; environment: Half['environment'] }) {
  if (environment === 'STAGING')
    return (
      <Empty title="Nothing is deployed to staging">
        <p>Deploy a definition with "environment": "staging" to compare it with production.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing is deployed to production">
      <p>A bot answers once it has a definition.</p>
      <ButtonLink href={`/bots/${botId}/start`} look="primary">
        Deploy a definition
      </ButtonLink>
    </Empty>
  );
}
