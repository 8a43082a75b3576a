import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import './conversation-scroll.css';

/** Distance from the end, in pixels, within which the view follows the stream. */
const NEAR_END = 48;

/** A conversation that scrolls. It follows its end while the reader is there, and a button leads back to the end. */
export function ConversationScroll({
  label,
  isBusy,
  items,
  children,
}: {
  label: string;
  isBusy?: boolean | undefined;
  /** The items of the region. A new last item scrolls to the end, and items that are added above leave the others in place. */
  items: readonly { id: string }[];
  /** The last element grows with the stream. */
  children: ReactNode;
}) {
  const scroller = useRef<HTMLElement>(null);
  const follows = useRef(true);
  const [isBehind, setBehind] = useState(false);

  const toEnd = useCallback(() => {
    follows.current = true;
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, []);
  const fromEnd = useRef(0);
  const before = useRef<{ first?: string | undefined; last?: string | undefined }>({});
  useLayoutEffect(() => {
    const { first, last } = before.current;
    before.current = { first: items[0]?.id, last: items.at(-1)?.id };
    if (before.current.last !== last) return toEnd();
    const at = items.findIndex(({ id }) => id === first);
    if (at > 0 && scroller.current && !follows.current)
      scroller.current.scrollTop = scroller.current.scrollHeight - fromEnd.current;
  });
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (follows.current) toEnd();
    });
    for (const element of [scroller.current, scroller.current?.lastElementChild])
      if (element) observer.observe(element);
    return () => observer.disconnect();
  }, [toEnd]);

  return (
    <div className="conversation">
      <section
        ref={scroller}
        className="conversation-scroll"
        aria-label={label}
        aria-busy={isBusy}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          fromEnd.current = scrollHeight - scrollTop;
          follows.current = fromEnd.current - clientHeight < NEAR_END;
          setBehind(!follows.current);
        }}
      >
        {children}
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
