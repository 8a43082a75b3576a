import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createDiagnostics,
  MAX_DIAGNOSTICS,
  MAX_MESSAGE_LENGTH,
} from '../../src/language/diagnostic.ts';
import { formatSource } from '../../src/language/format.ts';
import { type DefinitionReport, readDefinition } from '../../src/language/read.ts';
import { createSource, MAX_SOURCE_BYTES } from '../../src/language/source.ts';
import { suggest } from '../../src/language/suggest.ts';
import { expectLinear } from '../helpers/growth.ts';
import { rounds, runsOf } from '../helpers/rounds.ts';
import { AGENT, FAMILIES, type Family, fill } from './adversarial/families.ts';

const VARIABLES = Array.from({ length: 200 }, (_, index) => `V${index}`);
const read = (source: string) => readDefinition(source, { envNames: VARIABLES });

/** The size of the largest source of each family. A long run uses the largest allowed size. */
const BYTES = MAX_SOURCE_BYTES / rounds(4, 1);

/** Reads and formats, and fails if the result is too large. */
const readBounded = (source: string) => expectBounded(read(source));
const formatBounded = (source: string) =>
  expect(formatSource(source)?.length ?? 0).toBeLessThan(6 * BYTES);

function expectBounded({ diagnostics, tools, envNames, places }: DefinitionReport): void {
  expect(diagnostics.length).toBeLessThanOrEqual(MAX_DIAGNOSTICS + 1);
  for (const { message } of diagnostics)
    expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH);
  expect(tools.length).toBeLessThanOrEqual(16 * 128);
  for (const one of [tools, envNames, places])
    expect(JSON.stringify(one).length).toBeLessThan(2 * BYTES);
}

/** Fails if twice the source takes far more than twice the work, up to `BYTES`. */
async function expectFamilyLinear(family: Family): Promise<void> {
  for (const work of [readBounded, formatBounded])
    await expectLinear((size) => {
      const source = family(size);
      return () => work(source);
    }, BYTES / 4);
}

describe('a large source of adversarial input', () => {
  test.each(Object.entries(FAMILIES))(
    '%s: parsed and formatted in linear time',
    async (_what, family) => {
      const source = family(BYTES);
      expect(Buffer.byteLength(source)).toBeLessThanOrEqual(BYTES);
      expect(source.length).toBeGreaterThan(BYTES / 4);
      await expectFamilyLinear(family);
    },
  );

  test('random repeated pieces of the language: parsed and formatted in linear time', async () => {
    const beginning = fc.constantFrom(
      `${AGENT}`,
      `${AGENT}prompt "p" memory {`,
      `${AGENT}prompt "p" tools g { capability c "d" { input {`,
      `${AGENT}prompt "p" tools g { capability c "d" { get "https://a.b/" {`,
      `${AGENT}prompt "p" tools g mcp env.U { only a`,
      `${AGENT}prompt "p" channel web { suggestions "a"`,
      `${AGENT}prompt """`,
      `${AGENT}prompt "`,
      `${AGENT}tools g { capability c "d" { get "https://`,
    );
    const piece = fc.oneof(
      fc.constantFrom(
        ...'{ } , | . ? [ ] {{ }} ?? " """ # // \\ \\" \n \t tools capability c get header prompt memory'
          .split(' ')
          .filter(Boolean),
        ...['"a"', ' ', '    ', 'é', '{{now}}', '{{memory.a', '{{input.a}}', 'env.', 'sk-', 'eyJ'],
        ...['Bearer ', '-----BEGIN ', 'https://', '1234567890:', '0.1', '5s', 'string', '?', 'mcp'],
      ),
      fc.string({ minLength: 1, maxLength: 4 }),
    );
    const family = fc
      .tuple(beginning, fc.array(piece, { minLength: 1, maxLength: 5 }), fc.boolean())
      .map(([start, pieces, counts]) =>
        fill(start, (index) => pieces.join('') + (counts ? index : '')),
      );
    await fc.assert(fc.asyncProperty(family, expectFamilyLinear), runsOf(5));
  });
});

describe('limits on the number of steps', () => {
  test('a word is compared with at most 128 names', () => {
    let compared = 0;
    function* names() {
      for (; compared < 10_000; compared += 1) yield `name${compared}`;
    }
    expect(suggest('nmae', names())).toBeUndefined();
    expect(compared).toBe(128);
  });

  test('long words and names are not compared', () => {
    const name = 'n'.repeat(64);
    expect(suggest(name, [name.slice(1)])).toBe(name.slice(1));
    expect(suggest(`${name}n`, [name])).toBeUndefined();
    expect(suggest(name, [`${name}n`])).toBeUndefined();
  });

  test('only messages of listed problems are created', () => {
    const { report, list } = createDiagnostics(createSource('a'.repeat(20_000)));
    let made = 0;
    for (let offset = 0; offset < 20_000; offset += 1)
      report('syntax', { start: offset, end: offset + 1 }, () => {
        made += 1;
        return 'wrong';
      });
    expect(list().at(-1)?.message).toBe('19900 more problems are not listed');
    expect(made).toBe(MAX_DIAGNOSTICS);
  });

  test('problems beyond the limit are counted, even if the listed ones are merged', () => {
    const { report, list } = createDiagnostics(createSource('a'.repeat(6_000)));
    for (let offset = 0; offset < 6_000; offset += 1)
      report('unterminated-string', { start: offset, end: offset }, 'open');
    expect(list().map(({ code, message }) => [code, message])).toEqual([
      ['unterminated-string', 'open'],
      ['too-many-problems', '1000 more problems are not listed'],
    ]);
  });
});
