import { expect } from 'vitest';
import { startSite } from '../../helpers/site.ts';
import type { Sentences } from './sentences.ts';
import { answerTo, callCapability } from './service.ts';

const NOTES =
  'capability note "Save a note" { input { text string "x" } post "https://a.example/notes" }';

/** Calls a capability. @returns its requests, and the result for the model. */
async function save(input: unknown) {
  const site = await startSite();
  try {
    const answer = await callCapability(NOTES, input, site);
    return { answer, requests: site.requests };
  } finally {
    await site.close();
  }
}

export const INPUTS: Sentences = {
  'Inputs that do not fit their declaration are not sent; the model reads what is wrong and may call again.':
    async () => {
      expect(await save({ text: 5, more: true })).toEqual({
        answer: 'The input is not valid. text: must be a string; Unrecognized key: "more"',
        requests: [],
      });
    },
  'A body has at most 262144 bytes (256 KiB).': async () => {
    const text = (length: number) => ({ text: 'x'.repeat(length - '{"text":""}'.length) });
    expect((await save(text(262_144))).requests[0]?.body).toHaveLength(262_144);
    expect(await save(text(262_145))).toEqual({
      answer: 'The body is larger than 262144 bytes.',
      requests: [],
    });
  },
  'An answer is any text, such as JSON, and goes to the model unchanged; of more than 64 KiB the model gets the beginning and a note.':
    async () => {
      for (const text of ['{"state": "sent"}', '<p>Sent</p>', ''])
        expect(await answerTo('', (_request, response) => response.end(text))).toBe(text);
      const long = await answerTo('', (_request, response) => response.end('x'.repeat(65_537)));
      expect(long).toMatch(/^x+\n\[The answer was longer and is cut here\.\]$/);
      expect(long).toHaveLength(65_536);
    },
  'An answer with a status of 400 or more, and no answer in time, is an error that the model reads and can react to.':
    async () => {
      const gone = await answerTo('', (_request, response) => {
        response.writeHead(404).end('no such order');
      });
      expect(gone).toBe('HTTP 404: no such order');
      expect(await answerTo('timeout 50ms', () => {})).toBe('The server did not answer in time.');
    },
};
