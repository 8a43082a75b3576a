import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import './conversation.css';
import type { Turn } from './turn.ts';
import { type TurnActions, TurnView } from './turn-view.tsx';

/** Turns that are in the page at first, and that each request for earlier ones adds. */
const SHOWN = 100;

/** Distance from the end, in pixels, within which the view follows the stream. */
const NEAR_END = 48;

/** The turns of a conversation. It follows the stream while the reader is at its end. */
export function Conversation({
  turns,
  label = 'Conversation',
  user = 'You',
  top,
  actions,
  inspected,
  children,
}: {
  turns: Turn[];
  label?: string;
  /** Who wrote the messages. */
  user?: string;
  /** Stands above the first turn. */
  top?: ReactNode;
  actions?: TurnActions | undefined;
  /** The id of the turn whose requests are shown beside the conversation. */
  inspected?: string | undefined;
  /** Stands in place of the turns while there are none. */
  children?: ReactNode;
}) {
  const scroller = useRef<HTMLElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  const [isBehind, setBehind] = useState(false);

  const toEnd = useCallback(() => {
    follows.current = true;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, []);
  const [most, setMost] = useState(SHOWN);
  const shown = turns.slice(-most);
  const hidden = turns.length - shown.length;
  const fromEnd = useRef(0);
  const firstBefore = useRef<string>(undefined);
  // Turns that are added above leave those below in their place.
  useLayoutEffect(() => {
    const at = shown.findIndex(({ id }) => id === firstBefore.current);
    firstBefore.current = shown[0]?.id;
    if (at > 0 && scroller.current && !follows.current)
      scroller.current.scrollTop = scroller.current.scrollHeight - fromEnd.current;
  });
  const last = turns.at(-1)?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new message leads to the end
  useLayoutEffect(toEnd, [last]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (follows.current) toEnd();
    });
    for (const element of [scroller.current, list.current]) if (element) observer.observe(element);
    return () => observer.disconnect();
  }, [toEnd]);

  return (
    <div className="conversation">
      <section
        ref={scroller}
        className="conversation-scroll"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          fromEnd.current = scrollHeight - scrollTop;
          follows.current = fromEnd.current - clientHeight < NEAR_END;
          setBehind(!follows.current);
        }}
      >
        {hidden === 0 ? (
          top
        ) : (
          <p className="conversation-note">
            <Button look="quiet" onClick={() => setMost(most + SHOWN)}>
              Show earlier messages
            </Button>
          </p>
        )}
        {turns.length === 0 && children}
        <ol ref={list}>
          {shown.map((turn) => (
            <TurnView
              key={turn.id}
              turn={turn}
              user={user}
              actions={actions}
              isInspected={turn.id === inspected}
            />
          ))}
        </ol>
      </section>
      {isBehind && (
        <button type="button" className="conversation-end" onClick={toEnd}>
          <Icon name="down" size={12} />
          Latest
        </button>
      )}
    </div>
  );
}
