import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import type { GuideNode } from '../screens/guide/page.ts';
import { PAGE_SOURCES } from '../screens/guide/pages.ts';
import type { Help, Sentence } from '../screens/studio/language/help.ts';
import { compilePage } from './markdown.ts';

const ID = 'virtual:language-help';
const ROOT = join(import.meta.dirname, '../../..');

/** The page of the guide that is the language's reference. */
const REFERENCE = PAGE_SOURCES.find(({ slug }) => slug === 'language');

/** Makes a module with the sentences of the language's reference, which the Studio shows beside the words that they explain. */
export function languageHelp(): Plugin {
  return {
    name: 'language-help',
    resolveId: { filter: { id: /^virtual:language-help$/ }, handler: () => `\0${ID}` },
    load: {
      filter: { id: /^\0virtual:language-help$/ },
      async handler() {
        if (REFERENCE) this.addWatchFile(join(ROOT, REFERENCE.file));
        return `export const help = ${JSON.stringify(await compileLanguageHelp())};`;
      },
    },
  };
}

/** The sentences of the reference's lists, by chapter. */
export async function compileLanguageHelp(): Promise<Help> {
  if (!REFERENCE) throw new Error('The guide has no reference of the language.');
  const markdown = await readFile(join(ROOT, REFERENCE.file), 'utf8');
  const { nodes } = compilePage(markdown, REFERENCE, PAGE_SOURCES);
  const help: Record<string, Sentence[]> = {};
  let chapter = '';
  for (const node of nodes) {
    if (typeof node === 'string') continue;
    if (node.type === 'heading') chapter = textOf(node.children);
    if (node.type !== 'list') continue;
    const sentences = node.children.map((item) => flatten([item]));
    help[chapter] = [...(help[chapter] ?? []), ...sentences];
  }
  return help;
}

function flatten(nodes: readonly GuideNode[]): Sentence {
  return nodes.flatMap((node): Sentence => {
    if (typeof node === 'string') return [node];
    if (node.type === 'inlineCode') return [{ code: node.text }];
    return 'children' in node ? flatten(node.children) : [];
  });
}

function textOf(nodes: readonly GuideNode[]): string {
  return flatten(nodes)
    .map((part) => (typeof part === 'string' ? part : part.code))
    .join('');
}
