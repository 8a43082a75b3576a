import { describe, expect, test } from 'vitest';
import { readChunks } from '../../src/model/chunks.ts';
import { choiceOf, deltaOf } from '../../src/model/delta.ts';
import { createAnswerBudget } from '../../src/model/pieces.ts';
import { objectOrEmpty } from '../../src/model/wire.ts';

const chunk = (content: string) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] });

/** The text deltas of a body that arrives in these pieces. */
async function deltasOf(...pieces: (string | Uint8Array)[]) {
  const headers = new Headers();
  const deltas: unknown[] = [];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(Uint8Array.from(typeof piece === 'string' ? Buffer.from(piece) : piece));
      }
      controller.close();
    },
  });
  await readChunks({ body, headers }, createAnswerBudget(), (chunk) =>
    deltas.push(deltaOf(choiceOf(objectOrEmpty(chunk))).content),
  );
  return deltas;
}

describe('a streamed response', () => {
  test('is parsed correctly at any split, even between bytes', async () => {
    const bytes = Buffer.from(
      `data: ${chunk('Grüße 😀')}\r\n\r\n: a comment\n\ndata:${chunk('!')}\n\n`,
    );
    expect(await deltasOf(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([
      'Grüße 😀',
      '!',
    ]);
  });

  test('ends with [DONE], and the rest is ignored', async () => {
    expect(await deltasOf(`data: ${chunk('One')}\n\ndata: [DONE]\n\ndata: nonsense\n\n`)).toEqual([
      'One',
    ]);
  });

  test('without events has no deltas', async () => {
    expect(await deltasOf()).toEqual([]);
    const budget = createAnswerBudget();
    await expect(
      readChunks({ body: null, headers: new Headers() }, budget, () => {}),
    ).resolves.toBe(false);
  });

  test('is parsed in linear time for any line endings', async () => {
    const lines = Buffer.from(`${'\n'.repeat(1024 * 1024 - 1)}\r`);
    const startedAt = process.cpuUsage();
    expect(await deltasOf(...Array.from({ length: 4 }, () => lines))).toEqual([]);
    const { user, system } = process.cpuUsage(startedAt);
    expect(user + system).toBeLessThan(2_000_000);
  });

  test.each([
    ['of more than 64 MiB', `: ${'x'.repeat(1024 * 1024)}\n`, 65],
    [
      'of more than 500,000 events',
      `data: ${JSON.stringify({ choices: [] })}\n\n`.repeat(50_001),
      10,
    ],
    ['of more than 500,000 unknown fields', 'x\n'.repeat(50_001), 10],
  ])('%s fails', async (_what, piece, count) => {
    const pieces = Array.from({ length: count }, () => piece);
    await expect(deltasOf(...pieces)).rejects.toThrow("The model's answer is too long.");
  });

  test('with unknown fields makes no stack traces of them, and hides no other one', async () => {
    const { stackTraceLimit } = Error;
    const traced = `data: ${chunk('One')}\n\n`;
    const seen: number[] = [];
    const budget = createAnswerBudget();
    const untraced: string[] = [];
    const take = (chunks: number, characters: number) => {
      if (chunks === 8) untraced.push(String(new Error('here').stack));
      budget.take(chunks, characters);
    };
    const body = new Blob([`${traced}x: y\n\n${traced}`]).stream();
    await readChunks({ body, headers: new Headers() }, { ...budget, take }, () =>
      seen.push(Error.stackTraceLimit),
    );
    expect(seen).toEqual([stackTraceLimit, stackTraceLimit]);
    expect(untraced).toEqual(['Error: here']);
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    await expect(deltasOf('data: {"choices"\n\n')).rejects.toThrow();
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  test.each([
    ['is not valid JSON', 'data: {"choices"\n\n'],
    ['is larger than the limit', `data: ${'x'.repeat(5 * 1024 * 1024)}`],
  ])('with an event that %s fails', async (_what, text) => {
    await expect(deltasOf(text)).rejects.toThrow();
  });
});
