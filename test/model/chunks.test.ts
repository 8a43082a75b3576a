import { describe, expect, test } from 'vitest';
import { readChunks } from '../../src/model/chunks.ts';
import { createAnswerBudget } from '../../src/model/pieces.ts';

const chunk = (content: string) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] });

/** What is heard of a body that comes in these pieces. */
async function hear(...pieces: (string | Uint8Array)[]) {
  const heard: unknown[] = [];
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(Uint8Array.from(typeof piece === 'string' ? Buffer.from(piece) : piece));
      }
      controller.close();
    },
  });
  await readChunks({ body }, createAnswerBudget(), ({ choices }) =>
    heard.push(choices[0]?.delta.content),
  );
  return heard;
}

describe('a streamed answer', () => {
  test('is heard wherever it is cut, by bytes too', async () => {
    const bytes = Buffer.from(
      `data: ${chunk('Grüße 😀')}\r\n\r\n: a comment\n\ndata:${chunk('!')}\n\n`,
    );
    expect(await hear(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([
      'Grüße 😀',
      '!',
    ]);
  });

  test('ends with [DONE], whatever follows', async () => {
    expect(await hear(`data: ${chunk('One')}\n\ndata: [DONE]\n\ndata: nonsense\n\n`)).toEqual([
      'One',
    ]);
  });

  test('of nothing says nothing', async () => {
    expect(await hear()).toEqual([]);
    const budget = createAnswerBudget();
    await expect(readChunks({ body: null }, budget, () => {})).resolves.toBeUndefined();
  });

  test.each([
    ['by its name', `event: error\ndata: {"message":"canary"}\n\n`],
    ['by what it holds', `data: {"error":{"message":"canary"}}\n\n`],
  ])('that tells of an error %s has failed, without its words', async (_how, text) => {
    const error = await hear(`data: ${chunk('One')}\n\n`, text).catch((thrown) => thrown);
    expect(error.name).toBe('StreamedError');
    expect(String(error)).not.toContain('canary');
  });

  test('is read in linear time, however its lines end', async () => {
    const lines = Buffer.from(`${'\n'.repeat(1024 * 1024 - 1)}\r`);
    const startedAt = process.cpuUsage();
    expect(await hear(...Array.from({ length: 4 }, () => lines))).toEqual([]);
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
  ])('%s has failed, whatever is in it', async (_what, piece, count) => {
    const pieces = Array.from({ length: count }, () => piece);
    await expect(hear(...pieces)).rejects.toThrow("The model's answer is too long.");
  });

  test.each([
    ['is no JSON', 'data: {"choices"\n\n'],
    ['is larger than any server sends', `data: ${'x'.repeat(5 * 1024 * 1024)}`],
  ])('with an event that %s has failed', async (_what, text) => {
    await expect(hear(text)).rejects.toThrow();
  });
});
