import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { CodeBlock, scrollArea } from '../../parts/copy.tsx';
import { each } from '../../parts/each.ts';
import type { Cell, Container, GuideNode } from './page.ts';

/** The server's address in the documents, with any of its protocols. */
const DOCUMENTED_HOST = '127.0.0.1:4000';

/** Shows nodes of a page as elements. Nothing becomes HTML, so that the page needs no exception from its policy. */
export function GuideNodes({ nodes }: { nodes: readonly GuideNode[] }) {
  return showAll(nodes);
}

/** A page has thousands of nodes, so they become elements without a component of each. */
function showAll(nodes: readonly GuideNode[]): ReactNode {
  const [only] = nodes;
  return nodes.length === 1 && typeof only === 'string' ? here(only) : nodes.map(show);
}

function show(node: GuideNode, key: number): ReactNode {
  if (typeof node === 'string') return here(node);
  switch (node.type) {
    case 'inlineCode':
      return <code key={key}>{here(node.text)}</code>;
    case 'code':
      return (
        <CodeBlock key={key} label={labelOf(node.language)}>
          {here(node.text)}
        </CodeBlock>
      );
    case 'break':
      return <br key={key} />;
    case 'rule':
      return <hr key={key} />;
    case 'table':
      return <GuideTable key={key} head={node.head} rows={node.rows} />;
    default:
      return showParent(node, key);
  }
}

type Parent = Extract<GuideNode, { children: GuideNode[] }>;

function showParent(node: Parent, key: number): ReactNode {
  const children = showAll(node.children);
  switch (node.type) {
    case 'heading':
      return (
        <GuideHeading key={key} heading={node}>
          {children}
        </GuideHeading>
      );
    case 'list':
      return node.start === undefined ? (
        <ul key={key}>{children}</ul>
      ) : (
        <ol key={key} start={node.start}>
          {children}
        </ol>
      );
    case 'link':
      return (
        <GuideLink key={key} url={node.url}>
          {children}
        </GuideLink>
      );
    default: {
      const Element = ELEMENTS[node.type];
      return <Element key={key}>{children}</Element>;
    }
  }
}

const ELEMENTS = {
  paragraph: 'p',
  blockquote: 'blockquote',
  item: 'li',
  strong: 'strong',
  emphasis: 'em',
  strikethrough: 'del',
} as const satisfies Record<Container, string>;

/** A heading that links to itself, so that its address can be copied. */
function GuideHeading({
  heading: { depth, id },
  children,
}: {
  heading: { depth: number; id: string };
  children: ReactNode;
}) {
  const Level = `h${depth}` as 'h2';
  return (
    <Level id={id}>
      <a href={`#${id}`} className="guide-anchor">
        {children}
      </a>
    </Level>
  );
}

function GuideTable({ head, rows }: { head: Cell[]; rows: Cell[][] }) {
  const cells = (row: Cell[], name: 'th' | 'td') =>
    each(row, ({ isNumber, children }) => {
      // A corner without text heads nothing.
      const Element = children.length > 0 ? name : 'td';
      return (
        <Element className={isNumber ? 'number guide-right' : undefined}>
          {showAll(children)}
        </Element>
      );
    });
  return (
    <div className="guide-table" {...scrollArea('Table')}>
      <table>
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {each(rows, (row) => (
            <tr>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GuideLink({ url, children }: { url: string; children: ReactNode }) {
  if (url.startsWith('/guide/')) return <Link href={url}>{children}</Link>;
  const isHere = url.startsWith('#') || url.startsWith('/');
  return (
    <a href={url} {...(!isHere && { target: '_blank', rel: 'noreferrer' })}>
      {children}
    </a>
  );
}

/** Puts this server's address in place of the documented one, so that copied commands work. */
function here(text: string): string {
  if (!text.includes(DOCUMENTED_HOST)) return text;
  const { host, protocol } = location;
  if (protocol === 'http:') return text.replaceAll(DOCUMENTED_HOST, host);
  return text
    .replaceAll(`http://${DOCUMENTED_HOST}`, `https://${host}`)
    .replaceAll(`ws://${DOCUMENTED_HOST}`, `wss://${host}`);
}

const LANGUAGES: Record<string, string> = {
  sh: 'Shell commands',
  json: 'JSON',
  js: 'JavaScript',
  graphql: 'GraphQL',
  sql: 'SQL',
  yaml: 'YAML',
  http: 'HTTP',
  agentlang: 'Definition',
  ebnf: 'Syntax',
};

function labelOf(language: string): string {
  return LANGUAGES[language] ?? 'Text';
}
