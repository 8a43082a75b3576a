import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { PAGE_SOURCES, type PageSource } from '../screens/guide/pages.ts';
import { brokenLinks } from './links.ts';
import { compilePage } from './markdown.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Begins the module of a page's content. The page's slug follows. The index has no slug. */
const PAGE = 'virtual:guide/';

/** @throws Error if a page cannot be shown, or links to a heading that does not exist. */
export async function compileGuide() {
  const pages = await Promise.all(PAGE_SOURCES.map(compile));
  const broken = brokenLinks(pages);
  if (broken.length > 0) throw new Error(`The guide has broken links:\n${broken.join('\n')}`);
  return pages;
}

async function compile(source: PageSource) {
  const markdown = await readFile(join(ROOT, source.file), 'utf8');
  return { ...source, ...compilePage(markdown, source, PAGE_SOURCES) };
}

/** Makes the guide from the repository's Markdown: one module with the headings, and one for each page's content. */
export function guide(): Plugin {
  let compiled: ReturnType<typeof compileGuide> | undefined;
  const forget = () => {
    compiled = undefined;
  };
  return {
    name: 'guide',
    buildStart: forget,
    watchChange: forget,
    resolveId: { filter: { id: /^virtual:guide/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0virtual:guide/ },
      async handler(id) {
        for (const { file } of PAGE_SOURCES) this.addWatchFile(join(ROOT, file));
        compiled ??= compileGuide();
        const pages = await compiled;
        const wanted = pages.find(({ slug }) => id === `\0${PAGE}${slug}`);
        if (wanted) return `export default ${JSON.stringify(wanted.nodes)};`;
        const entries = pages.map(({ slug, group, title, headings }) => {
          const entry = JSON.stringify({ slug, group, title, headings });
          return `{ ...${entry}, load: () => import('${PAGE}${slug}') }`;
        });
        return `export const pages = [${entries.join(',\n')}];`;
      },
    },
  };
}
