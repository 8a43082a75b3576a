import { describe, expect, test } from 'vitest';
import { toTelegramHtml } from '../../src/channels/telegram/html.ts';
import { startDeadline } from '../../src/client/deadline.ts';
import { readEvents } from '../../src/client/event-stream.ts';
import { cut } from '../../src/command/terminal/text-table.ts';
import { diffTexts } from '../../src/console/diff/text-diff.ts';
import { renderTemplate } from '../../src/language/template.ts';
import { createRedactor } from '../../src/redaction/redact.ts';
import { jsonObject } from '../../src/text/json.ts';
import { readMarkdown } from '../../src/text/markdown.ts';
import { expectLinear, repeatTo } from '../helpers/growth.ts';

const MARKS = [
  '!',
  '!a',
  '![',
  '[',
  '](',
  '*',
  '**a',
  '_',
  '`',
  '~~',
  '<',
  '<!--',
  '&',
  '> ',
  '- ',
  '# ',
  '|',
  '\\',
  'a\n',
  '| a ',
  'http://',
  'a@a.',
];

describe('Markdown takes linear time', () => {
  test.each(MARKS)('with repeated %j', (part) =>
    expectLinear((size) => {
      const text = repeatTo(part, size);
      return () => readMarkdown(text);
    }, 16_000),
  );

  test.each(MARKS)('as Telegram’s HTML, with repeated %j', (part) =>
    expectLinear((size) => {
      const text = repeatTo(part, size);
      return () => toTelegramHtml(text);
    }, 16_000),
  );
});

const ESCAPES = [
  '%',
  '%25',
  '%61',
  '%5c%26',
  '\\',
  '\\\\',
  '\\u0061',
  '&',
  '&#97;',
  '&amp;',
  '+',
  '=',
  'YWFh',
  '61',
  'a',
  'a%61',
];

describe('redaction takes linear time', () => {
  const values = Object.fromEntries(
    ESCAPES.map((part, index) => [`V${index}`, `${repeatTo(part, 2_000)}$`]),
  );
  test.each(ESCAPES)('with repeated %j, and values of it', (part) => {
    const redactor = createRedactor(values);
    return expectLinear((size) => {
      const text = repeatTo(part, size);
      return () => redactor.redact(text);
    }, 16_000);
  });

  test('with a value that an escape ends again and again', async () => {
    const redactor = createRedactor({ A: `${'+'.repeat(30_000)}y`, B: `${'%41'.repeat(10_000)}x` });
    const text = repeatTo('+', 60_000) + repeatTo('%41', 60_000);
    expect(redactor.redact(text)).toBe(text);
    await expectLinear((size) => () => redactor.redact(repeatTo('+', size)), 120_000);
    await expectLinear((size) => () => redactor.redact(repeatTo('%41', size)), 120_000);
  });
});

describe('other texts take linear time', () => {
  test('a diff of lines that all differ', () =>
    expectLinear((size) => {
      const lines = (name: string) =>
        Array.from({ length: size }, (_, at) => `${name}${at}`).join('\n');
      const [before, after] = [lines('a'), lines('b')];
      return () => diffTexts(`${before}\nsame`, `${after}\nsame`);
    }, 50));

  test('members of an object up to their limit', () =>
    expectLinear((size) => {
      const object = Object.fromEntries(
        Array.from({ length: size }, (_, at) => [`k${at}`, `${at}`]),
      );
      return () => jsonObject.safeParse(object);
    }, 2_400));

  test('a template', () =>
    expectLinear((size) => {
      const template = [repeatTo('{{', size), { path: ['a'] }, repeatTo('}}', size)];
      return () => renderTemplate(template, () => 'x');
    }, 50_000));

  test.each(['\u0301', '\u200d', '😀\u200d', 'é', '🇦'])('a cell of a table, with %j', (part) =>
    expectLinear((size) => {
      const cell = `a${repeatTo(part, size)}${'b'.repeat(100)}`;
      return () => cut(cell, 80);
    }, 4_000),
  );

  test('an event that arrives in small pieces', () =>
    expectLinear((size) => {
      const bytes = new TextEncoder().encode(`data: ${'x'.repeat(size)}\n\n`);
      return async () => {
        const body = new ReadableStream({
          start(controller) {
            for (let at = 0; at < bytes.length; at += 4)
              controller.enqueue(bytes.slice(at, at + 4));
            controller.close();
          },
        });
        for await (const _ of readEvents(new Response(body), startDeadline(60_000))) void _;
      };
    }, 20_000));
});
