import { useEffect, useEffectEvent, useMemo } from 'react';
import { WaitingCalls } from '../../approvals/waiting-calls.tsx';
import { Conversation } from '../../chat/conversation.tsx';
import { EarlierTurns } from '../../chat/earlier-turns.tsx';
import { mergedTurns } from '../../chat/merged-turns.ts';
import { isOpen, type Turn } from '../../chat/turn.ts';
import type { TurnActions } from '../../chat/turn-view.tsx';
import { Suggestions } from '../../hosted/opening.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Empty } from '../../parts/state.tsx';
import type { Half } from './half.ts';
import { useDeployedFacts } from './use-deployed-facts.ts';
import { useOutcomes } from './use-outcomes.ts';

/** The conversation with one environment. */
export function Side({
  botId,
  sessionId,
  half: { environment, isDeployed, deploymentId, chat, earlier },
  actions,
  cannotRepeat,
  inspected,
  onSuggestion,
}: {
  botId: string;
  sessionId: string;
  half: Half;
  actions: TurnActions;
  cannotRepeat(turn: Turn): string | undefined;
  inspected: string | undefined;
  /** Sends a suggestion of the definition as the first message. */
  onSuggestion(text: string): void;
}) {
  const turns = useMemo(() => mergedTurns(earlier.turns, chat.turns), [earlier.turns, chat.turns]);
  const session = { botId, environment, sessionId };
  useOutcomes(session, chat.turns, earlier);
  useFactsAfterMemory(chat.turns.at(-1), earlier.readFacts);
  return (
    <div className="side-talk">
      <Conversation
        turns={turns}
        actions={actions}
        cannotRepeat={cannotRepeat}
        inspected={inspected}
        top={<EarlierTurns stored={earlier} />}
        bottom={<WaitingCalls session={session} />}
      >
        {isDeployed ? (
          <FirstMessage deploymentId={deploymentId} onSuggestion={onSuggestion} />
        ) : (
          <NotDeployed botId={botId} environment={environment} />
        )}
      </Conversation>
    </div>
  );
}

/** Reads the facts again after each reply that used a tool of the memory. */
function useFactsAfterMemory(last: Turn | undefined, readFacts: () => void): void {
  const hasChanged =
    last !== undefined &&
    !isOpen(last) &&
    last.pieces.some((piece) => piece.type === 'tool' && piece.name.startsWith('memory.'));
  const changedBy = hasChanged ? last.id : undefined;
  const read = useEffectEvent(readFacts);
  useEffect(() => {
    if (changedBy !== undefined) read();
  }, [changedBy]);
}

function FirstMessage({
  deploymentId,
  onSuggestion,
}: {
  deploymentId: string | undefined;
  onSuggestion(text: string): void;
}) {
  const { welcome, suggestions = [] } = useDeployedFacts(deploymentId).greeting ?? {};
  if (welcome !== undefined || suggestions.length > 0)
    return (
      <Empty title="The beginning of the chat page">
        {welcome !== undefined && (
          <p className="side-welcome" dir="auto">
            {welcome}
          </p>
        )}
        <Suggestions texts={suggestions} onChoose={onSuggestion} />
      </Empty>
    );
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
