import { memo } from 'react';
import { ConversationScroll } from '../chat/conversation-scroll.tsx';
import Markdown from '../chat/markdown.tsx';
import { grouped, isOpen, type Turn } from '../chat/turn.ts';
import { Button } from '../parts/button.tsx';
import { each } from '../parts/each.ts';
import { LabelledTools } from './labelled-tools.tsx';
import './messages.css';
import { Suggestions, Welcome } from './opening.tsx';
import type { Page } from './page.ts';
import { reasonOf } from './reason.ts';

/** The messages of the conversation, after the welcome. */
export function Messages({
  page: { welcome, suggestions },
  turns,
  isLoading,
  onEarlier,
  onRetry,
  onSuggestion,
}: {
  page: Page;
  turns: Turn[];
  isLoading: boolean;
  onEarlier: (() => Promise<void>) | undefined;
  onRetry(turn: Turn): void;
  onSuggestion(text: string): void;
}) {
  return (
    <ConversationScroll label="Conversation" isBusy={isLoading} items={turns}>
      <div className="messages-list">
        {onEarlier ? (
          <Button look="quiet" onClick={() => void onEarlier()}>
            Show earlier messages
          </Button>
        ) : (
          welcome && <Welcome text={welcome} isFirst={turns.length === 0 && !isLoading} />
        )}
        {isLoading && <Dots label="Loading the conversation" />}
        {turns.map((turn) => (
          <TurnMessages
            key={turn.id}
            turn={turn}
            onRetry={turn === turns.at(-1) ? onRetry : undefined}
          />
        ))}
        {turns.length === 0 && !isLoading && (
          <Suggestions texts={suggestions} onChoose={onSuggestion} />
        )}
      </div>
    </ConversationScroll>
  );
}

const TurnMessages = memo(function TurnMessages({
  turn,
  onRetry,
}: {
  turn: Turn;
  onRetry: ((turn: Turn) => void) | undefined;
}) {
  const { message, pieces, state, problem } = turn;
  const last = pieces.at(-1);
  return (
    <>
      {message && (
        <p className="message-own" dir="auto">
          {/* `dir="auto"` keeps this element from changing the direction of the message. */}
          <span className="unseen" dir="ltr">
            You:{' '}
          </span>
          {message}
        </p>
      )}
      <div className="message-reply" aria-busy={isOpen(turn)}>
        {each(grouped(pieces), (group) =>
          typeof group === 'string' ? (
            <Markdown text={group} />
          ) : (
            <LabelledTools key={group[0]?.callId} tools={group} />
          ),
        )}
        {isOpen(turn) && last?.type !== 'text' && <Dots label="A reply is being written" />}
        {state === 'stopped' && <p className="message-note">Stopped.</p>}
        {problem && (
          <div className="message-problem" role="alert">
            <p>{reasonOf(problem)}</p>
            {onRetry && <Button onClick={() => onRetry(turn)}>Try again</Button>}
          </div>
        )}
      </div>
    </>
  );
});

function Dots({ label }: { label: string }) {
  return (
    <span className="dots" role="img" aria-label={label}>
      <i />
      <i />
      <i />
    </span>
  );
}
