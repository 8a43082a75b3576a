import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer, recordedAnswers } from '../helpers/model-servers.ts';
import { runsOf } from '../helpers/rounds.ts';

const ANSWERS = recordedAnswers();

const SERVERS = [
  'azure-openai',
  'bedrock-gateway',
  'deepseek',
  'gemini',
  'groq',
  'litellm',
  'llama-cpp',
  'lm-studio',
  'mistral',
  'ollama',
  'openai',
  'openrouter',
  'sglang',
  'tgi',
  'together',
  'vllm',
  'xai',
];

/** Cuts bytes at these places. */
function cut(bytes: Buffer, places: number[]): Buffer[] {
  const ends = [...new Set(places)].sort((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

test('answers of every server are recorded, and each names the source of its shape', () => {
  expect([...new Set(ANSWERS.map(({ server }) => server))]).toEqual(SERVERS);
  for (const { source } of ANSWERS) expect(source).toMatch(/\w{4}/);
});

describe.each(ANSWERS)('$server: $name', ({ bytes, contentType, expected }) => {
  test('is read as expected', async () => {
    expect(await readAnswer([bytes], contentType)).toEqual(expected);
  });

  test('is read the same, cut at any one byte, and byte by byte', async () => {
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await readAnswer(cut(bytes, [at]), contentType)).toEqual(expected);
    }
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await readAnswer(single, contentType)).toEqual(expected);
  });
});

test('any recorded answer is read the same, however it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ANSWERS),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 50 }),
      async ({ bytes, contentType, expected }, places) => {
        const pieces = cut(
          bytes,
          places.map((place) => Math.floor(place * bytes.length)),
        );
        expect(await readAnswer(pieces, contentType)).toEqual(expected);
      },
    ),
    runsOf(200),
  );
});
