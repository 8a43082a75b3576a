import { pages } from 'virtual:guide';
import { useRef } from 'react';
import { Screen } from '../../frame/screen.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Empty, Skeleton } from '../../parts/state.tsx';
import { Article, contentOf } from './article.tsx';
import { Contents } from './contents.tsx';
import './guide.css';
import { SCREENS } from '../../screens.ts';
import type { PageEntry } from './page.ts';
import { GuideSearch } from './search.tsx';
import { useCurrentHeading } from './use-current-heading.ts';

const PATH = /^\/guide\/?([^/]*)/;

// The content of the page at the address loads while the browser still compiles the other scripts.
const [, opened] = PATH.exec(location.pathname) ?? [];
const first = opened === undefined ? undefined : pageOf(opened || undefined);
if (first) contentOf(first).load();

/** @param slug the page's part of the address; none: the first page. */
function pageOf(slug: string | undefined): PageEntry | undefined {
  return slug === undefined ? pages[0] : pages.find((entry) => entry.slug === slug);
}

/**
 * The guide: the repository's Markdown. It is open without a session, because it holds nothing of an account.
 *
 * @param slug the page's part of the address; none: the first page.
 */
export default function Guide({ slug }: { slug: string | undefined }) {
  const page = pageOf(slug);
  if (page) return <GuidePage page={page} />;
  return (
    <Screen title={SCREENS.guide.title} actions={<GuideSearch />}>
      <Empty title="The guide has no page at this address.">
        <ButtonLink href="/guide">Go to the guide</ButtonLink>
      </Empty>
    </Screen>
  );
}

function GuidePage({ page }: { page: PageEntry }) {
  const layout = useRef<HTMLDivElement>(null);
  const heading = useCurrentHeading(layout, page.headings);
  const contents = <Contents page={page} heading={heading} />;
  return (
    <Screen title={page.title} actions={<GuideSearch />}>
      <div ref={layout} className="guide">
        <aside className="guide-side">{contents}</aside>
        <details className="guide-fold" key={`fold-${page.slug}`}>
          <summary>Contents</summary>
          {contents}
        </details>
        <article key={page.slug} className="guide-article">
          <Article page={page} placeholder={<Loading />} />
        </article>
      </div>
    </Screen>
  );
}

/** The lines differ in width, as lines of text do. */
const WIDTHS = ['92%', '97%', '64%', '88%', '95%', '71%'];

function Loading() {
  return (
    <div className="guide-loading">
      {WIDTHS.map((width) => (
        <Skeleton key={width} width={width} />
      ))}
    </div>
  );
}
