import { type KeyboardEvent, type PointerEvent, useState } from 'react';

/** A range of buckets by their indexes, both included. */
type Range = { first: number; last: number };

/**
 * Selects a range of buckets by a drag, or by keys: the arrows move, with Shift they extend the range, Enter selects it, and
 * Escape gives it up.
 */
export function useRange(count: number, onRange: (first: number, last: number) => void) {
  const [at, setAt] = useState<number>();
  const [start, setStart] = useState<number>();
  const end = () => {
    setAt(undefined);
    setStart(undefined);
  };
  const clamp = (index: number) => Math.max(0, Math.min(count - 1, index));
  const indexOf = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return clamp(Math.floor(((clientX - left) / width) * count));
  };
  const range: Range | undefined =
    at === undefined
      ? undefined
      : { first: Math.min(start ?? at, at), last: Math.max(start ?? at, at) };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey) return;
    const from = at ?? count;
    const to = {
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      ArrowRight: at === undefined ? 0 : from + 1,
      ArrowUp: at === undefined ? 0 : from + 1,
      Home: 0,
      End: count - 1,
    }[key];
    if (to !== undefined) {
      setStart(shiftKey ? (start ?? at) : undefined);
      setAt(clamp(to));
    } else if (key === 'Enter' && range) {
      onRange(range.first, range.last);
      end();
    } else if (key === 'Escape' && range) end();
    else return;
    event.preventDefault();
  };
  const listeners = {
    onKeyDown,
    onBlur: end,
    onPointerDown: (event: PointerEvent) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      setStart(indexOf(event));
    },
    onPointerMove: (event: PointerEvent) => setAt(indexOf(event)),
    onPointerLeave: end,
    onPointerUp: (event: PointerEvent) => {
      const last = indexOf(event);
      setStart(undefined);
      if (start !== undefined && start !== last)
        onRange(Math.min(start, last), Math.max(start, last));
    },
  };
  return { at, range, listeners };
}
