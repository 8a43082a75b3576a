import type { GuideNode, Page } from '../screens/guide/page.ts';
import type { PageSource } from '../screens/guide/pages.ts';

/** The server's address in the documents. Links to it lead to the server that shows the guide. */
const DOCUMENTED_ORIGIN = 'http://127.0.0.1:4000';

/** The address of a document's link in the guide. @returns undefined for a file that is not a page of the guide. */
export function addressOf(
  url: string,
  { file: from }: PageSource,
  sources: PageSource[],
): string | undefined {
  const base = new URL(from, 'file:///');
  const { protocol, origin, pathname, search, hash } = new URL(url, base);
  if (origin === DOCUMENTED_ORIGIN) return pathname + search + hash;
  if (protocol !== 'file:') return url;
  if (pathname === base.pathname) return hash;
  const target = sources.find(({ file }) => `/${file}` === pathname);
  return target && `/guide/${target.slug}${hash}`;
}

/** The links within the guide to headings that do not exist, each with its page. */
export function brokenLinks(pages: ({ slug: string } & Page)[]): string[] {
  const anchors = new Set(
    pages.flatMap(({ slug, headings }) => [
      `/guide/${slug}`,
      ...headings.map(({ id }) => `/guide/${slug}#${id}`),
    ]),
  );
  return pages.flatMap(({ slug, nodes }) =>
    linksIn(nodes)
      .map((url) => (url.startsWith('#') ? `/guide/${slug}${url}` : url))
      .filter((url) => url.startsWith('/guide/') && !anchors.has(url))
      .map((url) => `${slug}: ${url}`),
  );
}

function linksIn(nodes: GuideNode[]): string[] {
  return nodes.flatMap((node) => {
    if (typeof node === 'string') return [];
    if (node.type === 'table')
      return [node.head, ...node.rows].flatMap((row) =>
        row.flatMap(({ children }) => linksIn(children)),
      );
    const inside = 'children' in node ? linksIn(node.children) : [];
    return node.type === 'link' ? [node.url, ...inside] : inside;
  });
}
