import { pages } from 'virtual:guide';
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react';
import { Link } from 'wouter';
import { createLazyModule, type LazyModule, useLazyModule } from '../../parts/lazy-part.tsx';
import './article.css';
import { GuideNodes } from './nodes.tsx';
import type { GuideNode, PageEntry } from './page.ts';

const contents = new Map<PageEntry, LazyModule<GuideNode[]>>();

/** The content of a page. Each page is loaded once. */
export function contentOf(page: PageEntry): LazyModule<GuideNode[]> {
  const content = contents.get(page) ?? createLazyModule(page.load);
  contents.set(page, content);
  return content;
}

/** A page's content, with links to the pages beside it. */
export function Article({ page, placeholder }: { page: PageEntry; placeholder: ReactNode }) {
  const nodes = useLazyModule(contentOf(page));
  return nodes ? <Content page={page} nodes={nodes} /> : placeholder;
}

function Content({ page, nodes }: { page: PageEntry; nodes: GuideNode[] }) {
  const inside = useRef<HTMLElement>(null);
  useScroll(inside);
  const at = pages.indexOf(page);
  return (
    <>
      <GuideNodes nodes={nodes} />
      <nav ref={inside} className="guide-neighbours" aria-label="Neighbouring pages">
        <Neighbour page={pages[at - 1]} label="Previous" />
        <Neighbour page={pages[at + 1]} label="Next" />
      </nav>
    </>
  );
}

/**
 * Scrolls to the heading in the address or to the start. The entry of the history keeps the position, so that going back
 * and reloading restore it.
 */
function useScroll(inside: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const guide = inside.current?.closest('.guide');
    const scroller = guide?.parentElement;
    if (!scroller) return undefined;
    const { scroll } = Object(history.state);
    const heading = document.getElementById(location.hash.slice(1));
    if (typeof scroll === 'number') scroller.scrollTop = scroll;
    else (heading ?? guide).scrollIntoView();
    const keep = () => history.replaceState({ ...history.state, scroll: scroller.scrollTop }, '');
    scroller.addEventListener('scrollend', keep);
    return () => scroller.removeEventListener('scrollend', keep);
  }, [inside]);
}

function Neighbour({ page, label }: { page: PageEntry | undefined; label: string }) {
  if (!page) return null;
  return (
    <Link href={`/guide/${page.slug}`} className={`guide-neighbour guide-${label.toLowerCase()}`}>
      <span className="faint">{label}</span>
      {page.title}
    </Link>
  );
}
