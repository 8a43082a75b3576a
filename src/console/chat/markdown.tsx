import { decodeHTML } from 'entities';
import type { MarkedToken, Token, Tokens } from 'marked';
import { memo, type ReactNode, useRef } from 'react';
import { readMarkdown } from '../../text/markdown.ts';
import { CodeBlock } from '../parts/copy.tsx';
import { each } from '../parts/each.ts';
import { indentedJson } from '../parts/indented-json.ts';
import './markdown.css';

/** A new line is one in the reply too: models write plain text as often as Markdown. */
const OPTIONS = { breaks: true };

/**
 * Renders GitHub-flavoured Markdown as React elements. Text becomes text nodes only: HTML stays visible as it was
 * written, and an image becomes a link, so that a reply can neither run a script nor make the browser ask another host.
 */
export default function Markdown({ text }: { text: string }) {
  const isJson = isObject(text);
  const blocks = useBlocks(isJson ? '' : text.replaceAll(/\r\n?/g, '\n'));
  const levels = headingLevels(blocks);
  if (isJson) return <CodeBlock label="JSON">{indentedJson(text)}</CodeBlock>;
  return (
    <div className="markdown">
      {each(blocks, (token, at) => (
        <Block token={token} level={levels[at]} />
      ))}
    </div>
  );
}

/** Whether a reply is one JSON object, as of a structured output. Its signs mean something else in Markdown. */
function isObject(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The levels of the headings, below the screen's own and without gaps, as screen readers need them. */
function headingLevels(blocks: MarkedToken[]): (number | undefined)[] {
  let last = 1;
  return blocks.map((token) => {
    if (token.type !== 'heading') return undefined;
    last = Math.min(token.depth + 1, last + 1, 6);
    return last;
  });
}

/** The top-level blocks of a text. While the text grows, only its last block is read again. */
function useBlocks(text: string): MarkedToken[] {
  const read = useRef<{ text: string; blocks: MarkedToken[] }>({ text: '', blocks: [] });
  const { current } = read;
  if (text === current.text) return current.blocks;
  const isLonger = text.startsWith(current.text);
  const kept = isLonger ? current.blocks.slice(0, lastBlock(current.blocks)) : [];
  const start = kept.reduce((length, { raw }) => length + raw.length, 0);
  // The type of tokens is open for extensions. There are none here.
  const blocks = [...kept, ...(readMarkdown(text.slice(start), OPTIONS) as MarkedToken[])];
  read.current = { text, blocks };
  return blocks;
}

/** The index of the last block that is not empty. Text that follows can still change it. */
function lastBlock(blocks: MarkedToken[]): number {
  return Math.max(
    0,
    blocks.findLastIndex(({ type }) => type !== 'space'),
  );
}

const Block = memo(
  function Block({
    token,
    level,
  }: {
    token: MarkedToken;
    /** Of a heading. One within another block has none, and is a bold line. */
    level?: number | undefined;
  }): ReactNode {
    switch (token.type) {
      case 'heading': {
        const Heading = level ? (`h${level}` as 'h2') : 'strong';
        return <Heading dir="auto">{inline(token.tokens)}</Heading>;
      }
      case 'paragraph':
        return <p dir="auto">{inline(token.tokens)}</p>;
      case 'text':
        return <p dir="auto">{inline(token.tokens ?? [token])}</p>;
      case 'code':
        return <CodeBlock label={token.lang || 'Code'}>{token.text}</CodeBlock>;
      case 'blockquote':
        return <blockquote dir="auto">{nested(token.tokens)}</blockquote>;
      case 'list':
        return <List list={token} />;
      case 'table':
        return <Table table={token} />;
      case 'hr':
        return <hr />;
      case 'html':
        return <p dir="auto">{token.raw.trim()}</p>;
      default:
        return null;
    }
  },
  (one, other) => one.token.raw === other.token.raw && one.level === other.level,
);

function nested(tokens: Token[]): ReactNode {
  return each(tokens as MarkedToken[], (token) => <Block token={token} />);
}

function List({ list: { ordered, start, items, loose } }: { list: Tokens.List }) {
  const content = each(items, (item) => (
    <li dir="auto">{loose ? nested(item.tokens) : inline(item.tokens)}</li>
  ));
  return ordered ? <ol start={start === '' ? 1 : start}>{content}</ol> : <ul>{content}</ul>;
}

function Table({ table: { header, rows } }: { table: Tokens.Table }) {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    each(row, ({ tokens, align }) => (
      <Cell dir="auto" className={align ? `align-${align}` : undefined}>
        {inline(tokens)}
      </Cell>
    ));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
    <section className="markdown-table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>{cells(header, 'th')}</tr>
        </thead>
        <tbody>
          {each(rows, (row) => (
            <tr>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inline(tokens: Token[]): ReactNode {
  return each(tokens as MarkedToken[], (token) => <Inline token={token} />);
}

function Inline({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'text':
      return token.tokens ? inline(token.tokens) : decodeHTML(token.text);
    case 'escape':
      return token.text;
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'link':
      return <Outward href={token.href}>{inline(token.tokens)}</Outward>;
    case 'image':
      return <Outward href={token.href}>{token.text || token.href}</Outward>;
    case 'html':
      return token.raw;
    default:
      return <Block token={token} />;
  }
}

/** A link to another site, which learns nothing of this page. Any other scheme stays text. */
function Outward({ href, children }: { href: string; children: ReactNode }) {
  const address = decodeHTML(href);
  if (!/^(https?:|mailto:)/i.test(address)) return children;
  return (
    <a href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
