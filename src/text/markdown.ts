import { Lexer, type Token, Tokenizer } from 'marked';

/** How deep lists and quotes are read. Deeper ones are text. */
export const MAX_DEPTH = 8;

/** Characters that all searches for the other end of an emphasis may read together, for each character of the text. */
const MAX_SEARCHED = 32;
/** The length from which a text is bounded in this way. */
const SHORT_TEXT = 4_096;

/** Characters of a heading that is underlined. A longer one is a paragraph. */
const MAX_HEADING = 200;

/** Characters that one search for the end of a text reads, longer than the name in any e-mail address. */
const MAX_TEXT = 256;

/**
 * The tokenizer of `marked` with bounds on its work: it calls itself for each level of lists and quotes, for each line in
 * them it searches the line under a heading, for each mark of emphasis without an end the rest of the paragraph, and after
 * each `!` the end of an e-mail address.
 */
class BoundedTokenizer extends Tokenizer {
  #depth = 0;
  #searchable: number;

  constructor({ length }: string) {
    super();
    this.#searchable = Math.max(length, SHORT_TEXT) * MAX_SEARCHED;
  }

  override list(source: string) {
    return this.#nested(() => super.list(source));
  }

  override blockquote(source: string) {
    return this.#nested(() => super.blockquote(source));
  }

  override lheading(source: string) {
    if (source.length <= MAX_HEADING) return super.lheading(source);
    const beginning = source.slice(0, MAX_HEADING);
    return super.lheading(beginning.slice(0, beginning.lastIndexOf('\n') + 1));
  }

  override emStrong(source: string, masked: string, before?: string) {
    return this.#search(source, () => super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before?: string) {
    return this.#search(source, () => super.del(source, masked, before));
  }

  override inlineText(source: string) {
    if (source.length <= MAX_TEXT) return super.inlineText(source);
    const beginning = source.slice(0, MAX_TEXT);
    // Spaces before a line break belong to it, so they stay with it.
    const end = beginning.search(/\s+\S*$/);
    return super.inlineText(end > 0 ? beginning.slice(0, end) : beginning);
  }

  #nested<Block>(read: () => Block | undefined): Block | undefined {
    if (this.#depth === MAX_DEPTH) return undefined;
    this.#depth += 1;
    const block = read();
    this.#depth -= 1;
    return block;
  }

  #search<Span extends Token>(source: string, find: () => Span | undefined): Span | undefined {
    if (!/^[*_~]/.test(source) || this.#searchable <= 0) return undefined;
    const span = find();
    this.#searchable -= (span?.raw ?? source).length;
    return span;
  }
}

type Options = {
  /** Whether a line break in a paragraph is one in the result. */
  breaks?: boolean;
};

const lexerOf = (markdown: string, options: Options) =>
  new Lexer({ gfm: true, ...options, tokenizer: new BoundedTokenizer(markdown) });

/** The blocks of GitHub-flavoured Markdown, with the tokens within them. Anyone may have written it. */
export function readMarkdown(markdown: string, options: Options = {}): Token[] {
  return lexerOf(markdown, options).lex(markdown);
}

/** The blocks of GitHub-flavoured Markdown. The tokens within a line are not read. */
export function readBlocks(markdown: string): Token[] {
  return lexerOf(markdown, {}).blockTokens(markdown.replaceAll(/\r\n?/g, '\n'));
}
