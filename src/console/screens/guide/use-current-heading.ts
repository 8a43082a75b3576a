import { type RefObject, useEffect, useState } from 'react';
import type { Heading } from './page.ts';

/** A heading this close below the top edge, in pixels, counts as reached. */
const REACHED = 96;

/** The heading of the section at the top of a scroll container. */
export function useCurrentHeading(
  inside: RefObject<HTMLElement | null>,
  headings: Heading[],
): string | undefined {
  const [current, setCurrent] = useState<string>();
  useEffect(() => {
    const container = inside.current?.parentElement;
    if (!container) return undefined;
    const update = () => {
      const limit = container.getBoundingClientRect().top + REACHED;
      const isAtEnd = container.scrollTop + container.clientHeight >= container.scrollHeight - 2;
      const reached = headings.filter(({ id }) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top ?? Infinity;
        return top <= (isAtEnd ? limit + container.clientHeight / 2 : limit);
      });
      setCurrent(reached.at(-1)?.id);
    };
    update();
    container.addEventListener('scroll', update, { passive: true });
    return () => container.removeEventListener('scroll', update);
  }, [inside, headings]);
  return current;
}
