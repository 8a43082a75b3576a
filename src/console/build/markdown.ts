import { decodeHTML } from 'entities';
import GithubSlugger from 'github-slugger';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import type { Cell, GuideNode, Page } from '../screens/guide/page.ts';
import type { PageSource } from '../screens/guide/pages.ts';
import { addressOf } from './links.ts';

/**
 * Converts a page's Markdown into the nodes of the guide: headings with anchors, and links to files that are pages of the
 * guide as links to those pages. Links to other files become plain text, because the guide has no repository beside it.
 *
 * @throws Error if the page has no title, or an element that the guide does not show.
 */
export function compilePage(markdown: string, source: PageSource, sources: PageSource[]): Page {
  const [first, ...rest] = lexer(markdown);
  if (!first || !isHeading(first)) throw new Error(`${source.file} does not begin with a heading.`);
  const slugger = new GithubSlugger();
  // GitHub names the title's anchor too, so a later heading of the same text gets a number.
  slugger.slug(textOf(first));
  const context: Context = { source, sources, slugger, headings: [] };
  const nodes = convertAll(withoutSections(rest, source.omit ?? []), context);
  return { title: source.title ?? textOf(first), headings: context.headings, nodes };
}

type Context = {
  source: PageSource;
  sources: PageSource[];
  slugger: GithubSlugger;
  /** The headings so far. */
  headings: Page['headings'];
};

/** Leaves out sections with their subsections. */
function withoutSections(tokens: Token[], omit: string[]): Token[] {
  let omitted: number | undefined;
  return tokens.filter((token) => {
    if (isHeading(token) && (omitted === undefined || token.depth <= omitted))
      omitted = omit.includes(textOf(token)) ? token.depth : undefined;
    return omitted === undefined;
  });
}

function convertAll(tokens: Token[], context: Context): GuideNode[] {
  // The type of tokens is open for extensions. There are none here.
  return (tokens as MarkedToken[]).flatMap((token) => convert(token, context));
}

/** Converts a token and those in it. @returns only those in it if the token itself is not shown. */
function convert(token: MarkedToken, context: Context): GuideNode[] {
  const children = (tokens: Token[]) => convertAll(tokens, context);
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'text':
      return token.tokens ? children(token.tokens) : [decodeHTML(token.text)];
    case 'escape':
      return [token.text];
    case 'codespan':
      return [{ type: 'inlineCode', text: token.text }];
    case 'code':
      // What follows the language tells the tests what to do with the code.
      return [{ type: 'code', language: token.lang?.split(' ')[0] ?? '', text: token.text }];
    case 'br':
      return [{ type: 'break' }];
    case 'hr':
      return [{ type: 'rule' }];
    case 'paragraph':
    case 'blockquote':
    case 'strong':
      return [{ type: token.type, children: children(token.tokens) }];
    case 'em':
      return [{ type: 'emphasis', children: children(token.tokens) }];
    case 'del':
      return [{ type: 'strikethrough', children: children(token.tokens) }];
    case 'heading':
      return [convertHeading(token, context)];
    case 'list':
      return [convertList(token, context)];
    case 'table':
      return [convertTable(token, context)];
    case 'link': {
      const url = addressOf(decodeHTML(token.href), context.source, context.sources);
      const shown = children(token.tokens);
      return url === undefined ? shown : [{ type: 'link', url, children: shown }];
    }
    default:
      throw new Error(
        `${context.source.file}: the guide does not show Markdown of type ${token.type}.`,
      );
  }
}

function convertHeading(token: Tokens.Heading, context: Context): GuideNode {
  const text = textOf(token);
  const id = context.slugger.slug(text);
  context.headings.push({ id, text, depth: token.depth });
  return { type: 'heading', depth: token.depth, id, children: convertAll(token.tokens, context) };
}

function convertList({ ordered, start, items }: Tokens.List, context: Context): GuideNode {
  const children = items.map(
    ({ tokens }): GuideNode => ({ type: 'item', children: convertAll(tokens, context) }),
  );
  return { type: 'list', ...(ordered && { start: Number(start) }), children };
}

function convertTable({ header, rows }: Tokens.Table, context: Context): GuideNode {
  const cell = ({ align, tokens }: Tokens.TableCell): Cell => ({
    isNumber: align === 'right',
    children: convertAll(tokens, context),
  });
  return { type: 'table', head: header.map(cell), rows: rows.map((row) => row.map(cell)) };
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading';
}

/** The text of a heading without its marks. */
function textOf({ tokens }: Tokens.Heading): string {
  return tokens.map(plain).join('');
}

function plain(token: Token): string {
  const inside = 'tokens' in token ? token.tokens : undefined;
  if (inside) return inside.map(plain).join('');
  const text = 'text' in token ? token.text : token.raw;
  return token.type === 'text' ? decodeHTML(text) : text;
}
