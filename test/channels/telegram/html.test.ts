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

  test('has only tags that Telegram knows, each closed, for every source', () => {
    const pieces = fc.constantFrom(
      ...['**', '_', '`', '```', '\n', '\n\n', '> ', '- ', '1. ', '[', '](', 'https://a.b', ')'],
      ...['<b>', '</b>', '<a href="', '|', '|---|', '# ', '~~', '&', '\\', ' ', 'word', '![', '"'],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        for (const { html, plain } of toMessages(parts.join(''))) {
          expect(isValid(html)).toBe(true);
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

  test('splits one long word, but no character', () => {
    const parts = splitMarkdown('😀'.repeat(5_000));
    expect(parts.every((part) => part.length <= MAX_LENGTH && part.isWellFormed())).toBe(true);
    expect(parts.join('')).toBe('😀'.repeat(5_000));
  });

  test('is no message if it is empty', () => {
    expect(toMessages(' \n\n ')).toEqual([]);
  });
});
