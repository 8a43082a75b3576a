import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { describe } from '../../src/model/failure.ts';
import type { AnswerBudget } from '../../src/model/model.ts';
import { createAnswerBudget } from '../../src/model/pieces.ts';
import { readAnswer as readModelAnswer } from '../../src/model/read-answer.ts';

const ROOT = 'test/fixtures/model-servers';

/** What Parley reads of a recorded answer: either a reply or a failure. */
const sideFile = z.object({
  contentType: z.string().default('text/event-stream'),
  expected: z.record(z.string(), z.unknown()),
});

/** An answer of a model server as raw bytes. The first line of its side file names the source of its shape. */
export type RecordedAnswer = {
  server: string;
  name: string;
  source: string;
  bytes: Buffer;
  contentType: string;
  expected: Record<string, unknown>;
};

export function recordedAnswers(): RecordedAnswer[] {
  return globSync(`${ROOT}/*/*.txt`)
    .sort()
    .map((path) => {
      const side = readFileSync(path.replace(/txt$/, 'source'), 'utf8');
      const [source = ''] = side.split('\n');
      return {
        server: basename(dirname(path)),
        name: basename(path, '.txt'),
        source,
        bytes: readFileSync(path),
        ...sideFile.parse(JSON.parse(side.slice(source.length))),
      };
    });
}

/** Reads an answer that arrives in these pieces. @returns the reply, or the failure. */
export async function readAnswer(
  pieces: Iterable<Uint8Array>,
  contentType = 'text/event-stream',
  budget: AnswerBudget = createAnswerBudget(),
): Promise<Record<string, unknown>> {
  const body = (async function* () {
    yield* pieces;
  })();
  let text = '';
  try {
    const headers = new Headers({ 'content-type': contentType });
    const end = await readModelAnswer({ body, headers }, budget, (piece) => {
      text += piece;
    });
    const { calls, text: rest, finish, failure } = end;
    if (failure) throw failure;
    const { usage = null, model: _, ...others } = finish;
    return JSON.parse(JSON.stringify({ text: text + rest, calls, usage, ...others }));
  } catch (error) {
    const { message, detail } = describe(error, false);
    return JSON.parse(JSON.stringify({ error: message, detail }));
  }
}
