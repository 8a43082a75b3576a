import { describe, expect, test } from 'vitest';
import { compileGuide } from '../../src/console/build/guide.ts';
import { brokenLinks } from '../../src/console/build/links.ts';
import { compilePage } from '../../src/console/build/markdown.ts';
import type { PageSource } from '../../src/console/screens/guide/pages.ts';

const SOURCE: PageSource = { slug: 'one', file: 'docs/one.md', group: 'Build' };
const SOURCES = [SOURCE, { slug: 'start', file: 'README.md', group: 'Start' }];

const compile = (markdown: string, source = SOURCE) => compilePage(markdown, source, SOURCES);
/** The links of a page of one paragraph. */
const linksOf = (paragraph: string) =>
  JSON.stringify(compile(`# One\n\n${paragraph}`).nodes).match(/(?<="url":")[^"]*/g);

describe('the guide', () => {
  test('contains every page, and each of its links has a target', async () => {
    const pages = await compileGuide();
    expect(pages.map(({ slug }) => slug)).toEqual(
      expect.arrayContaining(['start', 'language', 'rest', 'graphql', 'operations', 'security']),
    );
    for (const { slug, headings, nodes } of pages) {
      expect(headings.length, slug).toBeGreaterThan(1);
      expect(nodes.length, slug).toBeGreaterThan(headings.length);
    }
  });

  test('derives the ids of headings as GitHub does, and numbers repeated ones', () => {
    const { title, headings } = compile('# One\n\n## A `b`, c!\n\n## One\n\n### A b c');
    expect(title).toBe('One');
    expect(headings).toEqual([
      { id: 'a-b-c', text: 'A b, c!', depth: 2 },
      { id: 'one-1', text: 'One', depth: 2 },
      { id: 'a-b-c-1', text: 'A b c', depth: 3 },
    ]);
  });

  test('links to its own pages, and shows links to other files as text', () => {
    expect(linksOf('[a](../README.md#run-it), [b](#x), [c](one.md#y)')).toEqual([
      '/guide/start#run-it',
      '#x',
      '#y',
    ]);
    expect(linksOf('<http://127.0.0.1:4000/docs?a=b#c>, <https://nodejs.org/>')).toEqual([
      '/docs?a=b#c',
      'https://nodejs.org/',
    ]);
    expect(linksOf('[`schema.graphql`](../schema.graphql)')).toBeNull();
    expect(compile('# One\n\n[`schema.graphql`](../schema.graphql)').nodes).toEqual([
      { type: 'paragraph', children: [{ type: 'inlineCode', text: 'schema.graphql' }] },
    ]);
  });

  test('keeps text unchanged, in code and outside', () => {
    const { nodes } = compile(
      '# One\n\n`a < b &amp;` &lt;x&gt; "q" \\* **s**\n\n```sh skip\na && b\n```',
    );
    expect(nodes).toEqual([
      {
        type: 'paragraph',
        children: [
          { type: 'inlineCode', text: 'a < b &amp;' },
          ' <x> "q" ',
          '*',
          ' ',
          { type: 'strong', children: ['s'] },
        ],
      },
      { type: 'code', language: 'sh', text: 'a && b' },
    ]);
  });

  test('keeps lists and tables with their content', () => {
    const { nodes } = compile('# One\n\n3. a `b`\n4. c\n   - d\n\n| e | f |\n|---|--:|\n| g | 1 |');
    const cell = (text: string, isNumber: boolean) => ({ isNumber, children: [text] });
    expect(nodes).toEqual([
      {
        type: 'list',
        start: 3,
        children: [
          { type: 'item', children: ['a ', { type: 'inlineCode', text: 'b' }] },
          {
            type: 'item',
            children: ['c', { type: 'list', children: [{ type: 'item', children: ['d'] }] }],
          },
        ],
      },
      {
        type: 'table',
        head: [cell('e', false), cell('f', true)],
        rows: [[cell('g', false), cell('1', true)]],
      },
    ]);
  });

  test('omits the sections about the repository, with their subsections', () => {
    const source = { ...SOURCE, omit: ['Test it'] };
    const { headings } = compile('# One\n\n## Test it\n\n### Deep\n\n## Run it', source);
    expect(headings.map(({ text }) => text)).toEqual(['Run it']);
  });

  test('reports links to headings that do not exist, with their page', () => {
    const page = { slug: 'one', ...compile('# One\n\n[a](#b) [c](../README.md#d)\n\n## B') };
    expect(brokenLinks([page])).toEqual(['one: /guide/start#d']);
  });

  test.each([
    ['HTML', 'A <b>bold</b> text', 'docs/one.md: the guide does not show Markdown of type html.'],
    ['an image', '![a](b.png)', 'docs/one.md: the guide does not show Markdown of type image.'],
  ])('rejects a page with %s', (_what, paragraph, message) => {
    expect(() => compile(`# One\n\n${paragraph}`)).toThrow(message);
  });

  test('rejects a page without a title', () => {
    expect(() => compile('One')).toThrow('docs/one.md does not begin with a heading.');
  });
});
