import { describe, expect, test } from 'vitest';
import { hearChunks } from '../../src/model/chunks.ts';

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
  await hearChunks({ body }, ({ choices }) => heard.push(choices[0]?.delta.content));
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
    await expect(hearChunks({ body: null }, () => {})).resolves.toBeUndefined();
  });

  test.each([
    ['by its name', `event: error\ndata: {"message":"canary"}\n\n`],
    ['by what it holds', `data: {"error":{"message":"canary"}}\n\n`],
  ])('that tells of an error %s has failed, without its words', async (_how, text) => {
    const error = await hear(`data: ${chunk('One')}\n\n`, text).catch((thrown) => thrown);
    expect(error.name).toBe('StreamedError');
    expect(String(error)).not.toContain('canary');
  });

  test.each([
    ['is no JSON', 'data: {"choices"\n\n'],
    ['is larger than any server sends', `data: ${'x'.repeat(5 * 1024 * 1024)}`],
  ])('with an event that %s has failed', async (_what, text) => {
    await expect(hear(text)).rejects.toThrow();
  });
});
