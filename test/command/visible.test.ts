import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTerminal } from '../../src/command/terminal/terminal.ts';
import { visible, visibleJson } from '../../src/command/terminal/visible.ts';
import { rounds } from '../helpers/rounds.ts';
import { HIDDEN, HOSTILE } from './hostile-text.ts';

/** An escape sequence that sets a style. */
const STYLE = /\p{Cc}\[\d+m/gu;

/** A terminal of a person, with what it received on both streams. */
function openTerminal({ isTTY }: { isTTY: boolean }) {
  const open = () => Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const [stdin, stdout, stderr] = [open(), open(), open()];
  const terminal = createTerminal({ stdin, stdout, stderr }, { noColor: false });
  return {
    ...terminal,
    async received() {
      stdout.end();
      stderr.end();
      return { stdout: await text(stdout), stderr: await text(stderr) };
    },
  };
}

describe('a text from outside', () => {
  test.each([
    ['an escape sequence', '\x1b[31mred\x1b[0m', '^[[31mred^[[0m'],
    ['a title, ended by a bell', '\x1b]0;title\x07', '^[]0;title^G'],
    ['a C1 control', '\x9b31m\x85', '<U+009B>31m<U+0085>'],
    ['backspace and delete', 'ab\b\x7f', 'ab^H^?'],
    ['a bidirectional override', 'a\u202Eb\u2066', 'a<U+202E>b<U+2066>'],
    ['direction marks', '\u200E\u200F\u061C', '<U+200E><U+200F><U+061C>'],
    ['line and paragraph separators', '\u2028\u2029', '<U+2028><U+2029>'],
    ['zero-width characters', 'de\u200Bsk\uFEFF\u2060', 'de<U+200B>sk<U+FEFF><U+2060>'],
    ['a joiner between Latin letters', 'de\u200Dsk\u200C', 'de<U+200D>sk<U+200C>'],
    ['invisible tags', 'a\u{E0041}', 'a<U+E0041>'],
    ['a repeated joiner', 'می\u200C\u200Cخواهم', 'می\u200C<U+200C>خواهم'],
  ])('shows %s', (_name, hidden, shown) => {
    expect(visible(hidden)).toBe(shown);
  });

  test.each([
    '\tTabs\nand lines',
    '日本語',
    'שלום',
    'می\u200Cخواهم',
    'क्\u200Dष',
    '👩\u200D💻 ❤\uFE0F 1\uFE0F\u20E3',
  ])('stays as it is if it is ordinary: %s', (ordinary) => {
    expect(visible(ordinary)).toBe(ordinary);
  });

  test('has line breaks of one kind', () => {
    expect(visible('one\r\ntwo\rthree\n')).toBe('one\ntwo\nthree\n');
  });

  test('is whole in JSON, with hidden characters escaped', () => {
    const value = { [HOSTILE]: [HOSTILE] };
    const json = visibleJson(value, 2);
    expect(json).toContain('\\u202e');
    expect(json).not.toMatch(HIDDEN);
    expect(JSON.parse(json)).toEqual(value);
  });
});

describe('the terminal', () => {
  test('shows a text that arrives in pieces as it shows the whole text', async () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(...HOSTILE, '\r', '\n', '\u200D', '👩', '💻', '❤', '\uFE0F', 'م'),
        fc.string({ unit: 'grapheme' }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(pieces, async (texts) => {
        const [whole, parts] = [openTerminal({ isTTY: true }), openTerminal({ isTTY: true })];
        await whole.write(texts.join(''));
        for (const piece of texts) await parts.write(piece);
        const { stdout } = await parts.received();
        expect(stdout).toBe((await whole.received()).stdout);
        expect(stdout).not.toMatch(HIDDEN);
      }),
      { numRuns: rounds(200, 20_000) },
    );
  });

  test.each([true, false])('colours only its own styles, in a terminal: %s', async (isTTY) => {
    const terminal = openTerminal({ isTTY });
    await terminal.write(`${terminal.style.red(`mine ${HOSTILE}`)}\x1b[31mtheirs\n`);
    terminal.note(`${terminal.errorStyle.bold('mine')} ${HOSTILE}`);
    const { stdout, stderr } = await terminal.received();
    const own = isTTY ? ['\x1b[31m', '\x1b[39m'] : [];
    expect(stdout.match(STYLE) ?? []).toEqual(own);
    expect(stderr.match(STYLE) ?? []).toEqual(isTTY ? ['\x1b[1m', '\x1b[22m'] : []);
    expect(stdout).toContain('^[[31mtheirs');
    for (const output of [stdout, stderr]) expect(output.replaceAll(STYLE, '')).not.toMatch(HIDDEN);
  });

  test('passes a text for another program as it is, but not to a screen', async () => {
    const [file, screen] = [openTerminal({ isTTY: false }), openTerminal({ isTTY: true })];
    await file.writeExactly(HOSTILE);
    await screen.writeExactly(HOSTILE);
    expect((await file.received()).stdout).toBe(HOSTILE);
    expect((await screen.received()).stdout).not.toMatch(HIDDEN);
  });
});
