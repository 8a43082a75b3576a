/** Markup that needs no escaping. */
export type Html = { html: string };

type Part = Html | string | number | false | undefined | Part[];

/** Template tag that escapes every interpolated value unless it is `Html`. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return { html: String.raw({ raw: strings }, ...parts.map(write)) };
}

function write(part: Part): string {
  if (part === undefined || part === false) return '';
  if (Array.isArray(part)) return part.map(write).join('');
  return typeof part === 'object' ? part.html : escaped(String(part));
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Renders the Markdown that descriptions use: paragraphs, code in backticks, and bold text. */
export function markdown(text = ''): Html {
  const paragraphs = text.split('\n\n').filter((paragraph) => paragraph !== '');
  return html`${paragraphs.map((paragraph) => html`<p>${inline(paragraph)}</p>`)}`;
}

/** Renders inline Markdown: code in backticks, and bold text, which may hold code. */
export function inline(text = ''): Html {
  const parts = text.split('**');
  return html`${parts.map((part, index) => (index % 2 ? html`<strong>${code(part)}</strong>` : code(part)))}`;
}

function code(text: string): Html {
  const parts = text.split('`');
  return html`${parts.map((part, index) => (index % 2 ? html`<code>${part}</code>` : part))}`;
}
