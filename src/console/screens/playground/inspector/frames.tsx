import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import type { Part } from '../../../server/recording.ts';

/** Height of a frame on one line, in pixels. */
const ROW = 24;

/** Distance from the end, in pixels, within which the list follows the stream. */
const NEAR_END = 2 * ROW;

/** The frames of a stream with the times of their arrival. Only those in sight are in the page. */
export function Frames({ parts, isOpen }: { parts: Part[]; isOpen: boolean }) {
  const scroller = useRef<HTMLElement>(null);
  const follows = useRef(isOpen);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const virtualizer = useVirtualizer({
    count: parts.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
    useFlushSync: false,
  });
  const count = parts.length;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && follows.current && count > 0) element.scrollTop = element.scrollHeight;
  }, [count]);
  const toggle = (index: number) => {
    const next = new Set(unfolded);
    if (!next.delete(index)) next.add(index);
    setUnfolded(next);
  };
  return (
    <section
      ref={scroller}
      className="frames"
      aria-label="Frames"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      <div className="frames-all" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const part = parts[index];
          if (!part) return null;
          const isUnfolded = unfolded.has(index);
          return (
            <button
              key={index}
              ref={virtualizer.measureElement}
              type="button"
              data-index={index}
              className={isUnfolded ? 'frame-row frame-unfolded' : 'frame-row'}
              aria-expanded={isUnfolded}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => toggle(index)}
            >
              <span className="frame-time number">{part.ms.toFixed(0)} ms</span>
              <span className="frame-text mono">
                {isUnfolded ? part.text.trimEnd() : summaryOf(part.text)}
              </span>
            </button>
          );
        })}
      </div>
    </section>
  );
}

/** The part of a frame that differs from other frames, on one line: the event of GraphQL without its envelope, else the data. */
function summaryOf(text: string): string {
  const [, data] = /^data: ([^\n]+)/m.exec(text) ?? [];
  const [, event] = /^\{"data":\{"event":(\{.*\})\}\}$/s.exec(data ?? '') ?? [];
  const [, name, rest] = /^\{"__typename":"(\w+)",?(.*)$/s.exec(event ?? '') ?? [];
  if (name) return `${name} {${rest}`;
  return data ?? text.trim().replaceAll('\n', ' ');
}
