import { pages } from 'virtual:guide';
import { Link } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import type { PageEntry } from './page.ts';

/** The largest depth of a heading that the contents list. */
const LISTED_DEPTH = 3;

/** The guide's pages by group, and the headings of the page that is shown. */
export function Contents({ page, heading }: { page: PageEntry; heading: string | undefined }) {
  const groups = Map.groupBy(pages, ({ group }) => group);
  return (
    <nav aria-label="Guide">
      {[...groups].map(([group, members]) => (
        <section key={group}>
          <p className="guide-group">{group}</p>
          <ul>
            {members.map((member) => (
              <li key={member.slug}>
                <Link
                  href={`/guide/${member.slug}`}
                  className="guide-page"
                  aria-current={member === page ? 'page' : undefined}
                >
                  {member.title}
                </Link>
                {member === page && <Headings page={page} current={heading} />}
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p className="guide-group">Try it</p>
      <ul>
        <li>
          <ToolLink href="/docs">REST API reference</ToolLink>
        </li>
        <li>
          <ToolLink href="/graphql">GraphiQL</ToolLink>
        </li>
      </ul>
    </nav>
  );
}

function Headings({ page, current }: { page: PageEntry; current: string | undefined }) {
  const listed = page.headings.filter(({ depth }) => depth <= LISTED_DEPTH);
  if (listed.length === 0) return null;
  return (
    <ul className="guide-headings">
      {listed.map(({ id, text, depth }) => (
        <li key={id}>
          <a
            href={`#${id}`}
            className={depth > 2 ? 'guide-deep' : undefined}
            aria-current={id === current ? 'location' : undefined}
          >
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A link to a page outside the console's views. */
function ToolLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} className="guide-page">
      {children}
      <Icon name="external" size={12} />
    </a>
  );
}
