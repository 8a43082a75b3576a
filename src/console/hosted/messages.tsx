import { memo, useLayoutEffect, useRef, useState } from 'react';
import Markdown from '../chat/markdown.tsx';
import { Tools } from '../chat/tools.tsx';
import { grouped, isOpen, type Turn } from '../chat/turn.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import './messages.css';
import type { Page } from './page.ts';
import { reasonOf } from './reason.ts';

/** Distance from the end, in pixels, within which the view follows the reply. */
const NEAR_END = 48;

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
  const { scroller, isBehind, toEnd, onScroll } = useEnd(turns);
  return (
    <div className="messages">
      <section
        ref={scroller}
        className="messages-scroll"
        aria-label="Conversation"
        aria-busy={isLoading}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="messages-list">
          {onEarlier ? (
            <Button look="quiet" onClick={() => void onEarlier()}>
              Show earlier messages
            </Button>
          ) : (
            welcome && (
              <div className="message-reply">
                <Markdown text={welcome} />
              </div>
            )
          )}
          {isLoading && <Dots label="Loading the conversation" />}
          {turns.map((turn) => (
            <TurnMessages
              key={turn.id}
              turn={turn}
              onRetry={turn === turns.at(-1) ? onRetry : undefined}
            />
          ))}
          {turns.length === 0 && !isLoading && suggestions.length > 0 && (
            <ul className="suggestions" aria-label="Suggestions">
              {suggestions.map((text) => (
                <li key={text}>
                  <button type="button" dir="auto" onClick={() => onSuggestion(text)}>
                    {text}
                  </button>
                </li>
              ))}
            </ul>
          )}
        </div>
      </section>
      {isBehind && (
        <button type="button" className="messages-end" onClick={toEnd}>
          <Icon name="down" size={12} />
          Latest
        </button>
      )}
    </div>
  );
}

/** Keeps the end of the conversation in view while the reader is there. */
function useEnd(turns: Turn[]) {
  const scroller = useRef<HTMLElement>(null);
  const follows = useRef(true);
  const [isBehind, setBehind] = useState(false);
  const toEnd = () => {
    follows.current = true;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  };
  const last = useRef<string>(undefined);
  useLayoutEffect(() => {
    const id = turns.at(-1)?.id;
    if (follows.current || id !== last.current) toEnd();
    last.current = id;
  });
  const onScroll = () => {
    if (!scroller.current) return;
    const { scrollTop, clientHeight, scrollHeight } = scroller.current;
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
    setBehind(!follows.current);
  };
  return { scroller, isBehind, toEnd, onScroll };
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
  const isQuiet = isOpen(turn) && !(last?.type === 'tool' && last.state === 'running');
  return (
    <>
      {message && (
        <p className="message-own" dir="auto">
          <span className="unseen">You: </span>
          {message}
        </p>
      )}
      <div className="message-reply" aria-busy={isOpen(turn)}>
        {grouped(pieces).map((group, at) =>
          typeof group === 'string' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only added at the end
            <Markdown key={at} text={group} />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only added at the end
            <Tools key={at} tools={group.map((tool) => ({ ...tool, ms: undefined }))} />
          ),
        )}
        {isQuiet && last?.type !== 'text' && <Dots label="A reply is being written" />}
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
