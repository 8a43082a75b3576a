import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toMessages, toTelegramHtml } from '../../../src/channels/telegram/html.ts';
import { MAX_LENGTH, splitMarkdown } from '../../../src/channels/telegram/split.ts';

/** Whether every tag is one of Telegram's, and is closed in order. */
function isValid(html: string): boolean {
  const open: string[] = [];
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([^\s>]*)[^>]*>/g)) {
    if (!['b', 'i', 's', 'a', 'code', 'pre', 'blockquote'].includes(name)) return false;
    if (slash ? open.pop() !== name : open.push(name) > 50) return false;
  }
  return open.length === 0;
}

/** A text whose lines but the first begin with a prefix. */
const indent = (text: string, prefix: string) => text.replaceAll('\n', `\n${prefix}`);

describe('a reply in Telegram', () => {
  test.each([
    ['**bold** _it_ ~~no~~ `a<b`', '<b>bold</b> <i>it</i> <s>no</s> <code>a&lt;b</code>'],
    ['# Title\n\ntext', '<b>Title</b>\n\ntext'],
    ['```ts\na < b\n```', '<pre><code class="language-ts">a &lt; b</code></pre>'],
    ['```"><x\na\n```', '<pre>a</pre>'],
    ['- a\n- b', '• a\n• b'],
    ['3. a\n4. b', '3. a\n4. b'],
    ['- [x] done\n- [ ] todo', '• ☑ done\n• ☐ todo'],
    ['> a\n> > b', '<blockquote>a\n\nb</blockquote>'],
    ['| a |\n|---|\n| 1 |', '<pre>| a |\n|---|\n| 1 |</pre>'],
    ['[l](https://a.example/?x=1&y=2)', '<a href="https://a.example/?x=1&amp;y=2">l</a>'],
    ['[l](javascript:alert(1)) [f](file:///etc)', 'l f'],
    ['![picture](https://a.example/p.png)', '<a href="https://a.example/p.png">picture</a>'],
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['a <b>tag</b> & \\*star\\*', 'a &lt;b&gt;tag&lt;/b&gt; &amp; *star*'],
    ['&lt;b&gt; &amp;', '&lt;b&gt; &amp;'],
    ['```js\nopen', '<pre><code class="language-js">open</code></pre>'],
  ])('has Telegram’s HTML for %j', (markdown, html) => {
    expect(toTelegramHtml(markdown)).toBe(html);
  });

  test.each([
    ['##', '##'],
    ['```json', '```json'],
    ['>', '&gt;'],
    ['[](https://a.example)', '[](https://a.example)'],
    ['[id]: https://a.example', '[id]: https://a.example'],
  ])('is the text itself if %j shows nothing yet', (markdown, html) => {
    expect(toMessages(markdown)).toEqual([{ html, plain: markdown }]);
  });

  test.each(['\u200b', '\u2800\ufe0f', '\u3164'])('is no message if it is only %j', (text) => {
    expect(toMessages(text)).toEqual([]);
  });

  test('has only tags that Telegram knows, each closed, for every source', () => {
    const pieces = fc.constantFrom(
      ...['**', '_', '`', '```', '\n', '\n\n', '> ', '- ', '1. ', '[', '](', 'https://a.b', ')'],
      ...['<b>', '</b>', '<a href="', '|', '|---|', '# ', '~~', '&', '\\', ' ', 'word', '![', '"'],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        for (const { html, plain } of toMessages(parts.join(''))) {
          expect(isValid(html)).toBe(true);
          expect(html.replaceAll(/<[^>]*>/g, '').trim()).not.toBe('');
          expect(plain.length).toBeLessThanOrEqual(MAX_LENGTH);
        }
      }),
    );
  });
});

describe('a long reply', () => {
  test('is split between paragraphs', () => {
    const paragraphs = Array.from({ length: 30 }, (_, index) => `${index} ${'x'.repeat(300)}`);
    const parts = splitMarkdown(paragraphs.join('\n\n'));
    expect(parts.join('\n\n')).toBe(paragraphs.join('\n\n'));
    expect(parts.length).toBe(3);
  });

  test('closes and opens code blocks, with their language', () => {
    const lines = Array.from({ length: 900 }, (_, index) => `print(${index})`);
    const parts = splitMarkdown(`Look:\n\n\`\`\`python\n${lines.join('\n')}\n\`\`\`\n\nDone.`);
    expect(parts.every((part) => part.length <= MAX_LENGTH)).toBe(true);
    for (const part of parts) expect(part.match(/```/g)?.length).toBe(2);
    expect(parts.slice(1).every((part) => part.startsWith('```python\n'))).toBe(true);
    expect(parts.join('\n').match(/print\(\d+\)/g)).toEqual(lines);
  });

  const step = (number: number, code: string) =>
    `${number}. Step:\n\n   ${indent(code, '   ')}\n\n   After.\n`;
  test.each<[string, number, (code: string) => string]>([
    ['numbered steps', 250, (code) => [1, 2, 3, 4].map((number) => step(number, code)).join('')],
    ['one long step', 900, (code) => `1. Before\n${step(2, code)}3. Last`],
    ['an item without a text', 900, (code) => `- ${indent(code, '  ')}\n- Last`],
    ['a list in a list', 900, (code) => `- Look\n  - ${indent(code, '    ')}\n- Last`],
    ['a quote', 900, (code) => `> Look:\n>\n> ${indent(code, '> ')}\n>\n> End`],
    ['a list in a quote', 900, (code) => `> 1. Look\n>    ${indent(code, '>    ')}\n> 2. Last`],
  ])('has the code of %s in code blocks, and nothing else', (_what, count, sourceOf) => {
    const lines = Array.from({ length: count }, (_, index) => `print(${index})`);
    const markdown = sourceOf(`\`\`\`python\n${lines.join('\n')}\n\`\`\``);
    const messages = toMessages(markdown);
    expect(messages.length).toBeGreaterThan(1);
    const shown: string[] = [];
    for (const { html, plain } of messages) {
      expect(plain.length).toBeLessThanOrEqual(MAX_LENGTH);
      expect(isValid(html)).toBe(true);
      const blocks = html.match(/<pre>.*?<\/pre>/gs) ?? [];
      for (const block of blocks) expect(block).toMatch(/class="language-python">print/);
      expect(blocks.join('')).not.toMatch(/Step|After|Before|Last|Look|End|```/);
      expect(html.replaceAll(/<pre>.*?<\/pre>/gs, '')).not.toMatch(/print|```/);
      shown.push(...(blocks.join('\n').match(/print\(\d+\)/g) ?? []));
    }
    expect(shown).toEqual(markdown.match(/print\(\d+\)/g));
  });

  test('keeps the numbers of its steps', () => {
    const long = Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ');
    const steps = [1, 2, 3].map((step) => `${step}. ${long}\n\n   ${long}\n`).join('\n');
    const texts = toMessages(steps).map(({ html }) => html);
    expect(texts.join('\n').match(/^\d\. /gm)).toEqual(['1. ', '2. ', '3. ']);
  });

  test('is split also if its code block has a long fence', () => {
    const parts = splitMarkdown(`${'`'.repeat(5_000)}\n${'word '.repeat(1_000)}`);
    expect(parts.every((part) => part.length <= MAX_LENGTH)).toBe(true);
    expect(parts.join(' ').match(/word/g)).toHaveLength(1_000);
  });

  test('is split also if its lists and quotes are deep', () => {
    for (const mark of ['> ', '- ', '1. ']) {
      const parts = splitMarkdown(`${mark.repeat(40)}${'word '.repeat(2_000)}`);
      expect(parts.every((part) => part.length <= MAX_LENGTH)).toBe(true);
      expect(parts.join(' ').match(/word/g)).toHaveLength(2_000);
    }
  });

  test('splits one long word, but no character', () => {
    const parts = splitMarkdown('😀'.repeat(5_000));
    expect(parts.every((part) => part.length <= MAX_LENGTH && part.isWellFormed())).toBe(true);
    expect(parts.join('')).toBe('😀'.repeat(5_000));
  });

  test.each([
    ['marks of emphasis without an end', '_a*'],
    ['marks of strong emphasis', '**a '],
    ['quotes in quotes', '> '],
    ['lists in lists', '1. '],
    ['lines in an item', '\na'],
    ['bullets', '\n- '],
    ['brackets', '[a]('],
  ])('of 1 Mi characters with %s is read without hanging', (_what, piece) => {
    const markdown = `- ${piece.repeat((1024 * 1024) / piece.length)}`;
    const messages = toMessages(markdown);
    const characters = (text: string) => text.replaceAll(/\s/g, '').length;
    const shown = messages.reduce((sum, { plain }) => sum + characters(plain), 0);
    expect(shown).toBeGreaterThanOrEqual(characters(markdown));
    for (const { html, plain } of messages) {
      expect(isValid(html)).toBe(true);
      expect(plain.length).toBeLessThanOrEqual(MAX_LENGTH);
    }
  });

  test('reads the messages again that have changed, and no other', () => {
    const paragraphs = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(400)}`);
    const before = toMessages(paragraphs.join('\n\n'));
    const after = toMessages([...paragraphs, 'More.'].join('\n\n'), before);
    expect(before.length).toBeGreaterThan(3);
    expect(after.slice(0, -1).every((message, index) => message === before[index])).toBe(true);
    expect(after.at(-1)?.plain).toMatch(/More\.$/);
  });

  test('is text after 32 Ki characters, without a loss', () => {
    const markdown = '**word** '.repeat(10_000).trim();
    const messages = toMessages(markdown);
    expect(messages.map(({ plain }) => plain).join(' ')).toBe(markdown);
    expect(messages[0]?.html).toMatch(/^<b>word<\/b> /);
    expect(messages.at(-1)?.html).toMatch(/^\*\*word\*\* /);
  });

  test('is no message if it is empty', () => {
    expect(toMessages(' \n\n ')).toEqual([]);
  });
});
