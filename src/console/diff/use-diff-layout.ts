import { type RefObject, useLayoutEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { DiffLayout } from './rows.ts';

/** Width in pixels from which two texts fit side by side. In a window of 900 pixels a screen has it. */
const WIDE = 640;

/** The layout that the address selects, side by side by default. */
export function useChosenLayout(): [DiffLayout, (layout: DiffLayout) => void] {
  const [search, setSearch] = useSearchParams();
  const choose = (layout: DiffLayout) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (layout === 'unified') next.set('diff', layout);
        else next.delete('diff');
        return next;
      },
      { replace: true },
    );
  return [search.get('diff') === 'unified' ? 'unified' : 'split', choose];
}

/** Whether an element is wide enough for two texts. */
export function useIsWide(element: RefObject<HTMLElement | null>): boolean {
  const [isWide, setWide] = useState(true);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const measure = () => setWide(current.clientWidth >= WIDE);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return isWide;
}
