import { decodeHTML } from 'entities';
import type { Token, Tokens } from 'marked';
import { readMarkdown } from '../../text/markdown.ts';
import type { Html } from './api.ts';
import { MAX_LENGTH, splitMarkdown, wrap } from './split.ts';

/** Characters of a reply that are read as Markdown, of 8 messages. The rest is text. */
const MAX_MARKDOWN = 8 * MAX_LENGTH;

/** A character that is not blank. Telegram refuses a text without one. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * The messages that show a reply in Markdown, each in Telegram's HTML and as it is. Markdown that shows nothing, such as
 * the beginning of a code block, is text. Source: Bot API, "HTML style".
 *
 * @param earlier the messages of the reply when it was shorter. Unchanged messages are not rendered again.
 */
export function toMessages(markdown: string, earlier: readonly Html[] = []): Html[] {
  const [beginning = ''] = wrap(markdown.slice(0, MAX_MARKDOWN + 1), MAX_MARKDOWN);
  const rest = markdown.slice(beginning.length);
  const written = messagesOf(splitMarkdown(beginning), earlier, renderOrEscape);
  const texts = rest === '' ? [] : wrap(rest, MAX_LENGTH).map((text) => text.trim());
  return [...written, ...messagesOf(texts, earlier.slice(written.length), escapeHtml)];
}

function messagesOf(
  texts: readonly string[],
  earlier: readonly Html[],
  toHtml: (text: string) => string,
): Html[] {
  return texts
    .filter((plain) => VISIBLE.test(plain))
    .map((plain, index) => {
      const before = earlier[index];
      return before?.plain === plain ? before : { html: toHtml(plain), plain };
    });
}

function renderOrEscape(plain: string): string {
  const html = toTelegramHtml(plain);
  return VISIBLE.test(html.replaceAll(/<[^>]*>/g, '')) ? html : escapeHtml(plain);
}

/**
 * Renders Markdown in Telegram's HTML, which knows only a few tags and no nested quotes. Everything else, also HTML in
 * the source, becomes text. Links lead only to `http:` and `https:`.
 */
export function toTelegramHtml(markdown: string): string {
  return blocks(readMarkdown(markdown), false).trim();
}

/** A text as HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function blocks(tokens: readonly Token[], isQuoted: boolean): string {
  return tokens.map((token) => block(token, isQuoted)).join('');
}

function block(token: Token, isQuoted: boolean): string {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return '';
    case 'heading':
      return `<b>${inline(token.tokens)}</b>\n\n`;
    case 'paragraph':
      return `${inline(token.tokens)}\n\n`;
    case 'code':
      return `${code(token.text, token.lang)}\n\n`;
    case 'list':
      return `${list(token as Tokens.List, isQuoted)}\n`;
    case 'blockquote': {
      const text = blocks(token.tokens ?? [], true).trim();
      return isQuoted ? `${text}\n\n` : `<blockquote>${text}</blockquote>\n\n`;
    }
    case 'table':
      return `<pre>${escapeHtml(token.raw.trim())}</pre>\n\n`;
    case 'hr':
      return '———\n\n';
    case 'text':
      return token.tokens ? `${inline(token.tokens)}\n` : `${escapeHtml(decodeHTML(token.text))}\n`;
    default:
      return `${escapeHtml(token.raw.trim())}\n\n`;
  }
}

function code(text: string, lang: string | undefined): string {
  const [language = ''] = (lang ?? '').split(/\s/);
  if (!/^[\w+#.-]{1,40}$/.test(language)) return `<pre>${escapeHtml(text)}</pre>`;
  return `<pre><code class="language-${language}">${escapeHtml(text)}</code></pre>`;
}

/** Telegram has no lists, so their marks are text. */
function list({ items, ordered, start }: Tokens.List, isQuoted: boolean): string {
  return items
    .map((item, index) => {
      const mark = ordered ? `${Number(start) + index}.` : '•';
      const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
      const text = blocks(item.tokens, isQuoted).trim();
      return `${mark} ${box}${text.replaceAll(/\n+(?=(?:•|\d+\.) )/g, '\n  ')}\n`;
    })
    .join('');
}

function inline(tokens: readonly Token[] | undefined): string {
  return (tokens ?? []).map(span).join('');
}

function span(token: Token): string {
  switch (token.type) {
    case 'strong':
      return `<b>${inline(token.tokens)}</b>`;
    case 'em':
      return `<i>${inline(token.tokens)}</i>`;
    case 'del':
      return `<s>${inline(token.tokens)}</s>`;
    case 'codespan':
      return `<code>${escapeHtml(token.text)}</code>`;
    case 'br':
      return '\n';
    case 'link':
      return link(token.href, inline(token.tokens));
    case 'image':
      return link(token.href, escapeHtml(decodeHTML(token.text)) || escapeHtml(token.href));
    case 'escape':
      return escapeHtml(token.text);
    case 'text':
      return token.tokens ? inline(token.tokens) : escapeHtml(decodeHTML(token.text));
    default:
      return escapeHtml(token.raw);
  }
}

function link(href: string, text: string): string {
  const url = URL.parse(href);
  if (!url || !/^https?:$/.test(url.protocol)) return text;
  // Telegram has no links within links.
  const inner = text.replaceAll(/<\/?a\b[^>]*>/g, '');
  return `<a href="${escapeHtml(url.href).replaceAll('"', '&quot;')}">${inner}</a>`;
}
