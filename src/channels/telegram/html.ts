import { decodeHTML } from 'entities';
import { lexer, type Token, type Tokens } from 'marked';
import type { Html } from './api.ts';
import { splitMarkdown } from './split.ts';

/** The messages that show a reply in Markdown, each in Telegram's HTML and as it is. Source: Bot API, "HTML style". */
export function toMessages(markdown: string): Html[] {
  return splitMarkdown(markdown).map((plain) => ({ html: toTelegramHtml(plain), plain }));
}

/**
 * Renders Markdown in Telegram's HTML, which knows only a few tags and no nested quotes. Everything else, also HTML in
 * the source, becomes text. Links lead only to `http:` and `https:`.
 */
export function toTelegramHtml(markdown: string): string {
  return blocks(lexer(markdown), false).trim();
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
