/** A part of a page: text, or an element of Markdown with the parts in it. */
export type GuideNode =
  | string
  | { type: 'code'; language: string; text: string }
  | { type: 'inlineCode'; text: string }
  | { type: 'break' | 'rule' }
  /** `id`: the heading's anchor, as GitHub names it. */
  | { type: 'heading'; depth: number; id: string; children: GuideNode[] }
  /** `start`: the first number of an ordered list. */
  | { type: 'list'; start?: number | undefined; children: GuideNode[] }
  | { type: 'link'; url: string; children: GuideNode[] }
  | { type: 'table'; head: Cell[]; rows: Cell[][] }
  | { type: Container; children: GuideNode[] };

export type Container =
  | 'paragraph'
  | 'blockquote'
  | 'item'
  | 'strong'
  | 'emphasis'
  | 'strikethrough';

export type Cell = { isNumber: boolean; children: GuideNode[] };

export type Heading = { id: string; text: string; depth: number };

export type Page = { title: string; headings: Heading[]; nodes: GuideNode[] };

/** A page without its content, which is loaded when it is shown. */
export type PageEntry = {
  slug: string;
  group: string;
  title: string;
  /** The headings of its sections, in their order. */
  headings: Heading[];
  load(): Promise<{ default: GuideNode[] }>;
};
