import { type AnswerEnd, assembleAnswer } from './answer.ts';
import { readChunks } from './chunks.ts';
import { ReportedError } from './failure.ts';
import type { ModelResponse } from './fetch.ts';
import type { AnswerBudget } from './model.ts';
import { TooLong } from './pieces.ts';

/**
 * Reads and assembles the body of an answer. An answer whose finish reason has arrived is complete, also if the rest is
 * cut, invalid or late: only the usage may be missing.
 *
 * @param onText receives each piece of text but the last one, which the result has. A piece may be empty.
 * @throws TooLong, ReportedError or IncompleteAnswer; any other error for a broken connection or invalid data.
 */
export async function readAnswer(
  response: Pick<ModelResponse, 'body' | 'headers'>,
  budget: AnswerBudget,
  onText: (text: string) => void,
): Promise<AnswerEnd> {
  const answer = assembleAnswer(budget);
  try {
    return answer.end(await readChunks(response, budget, (chunk) => onText(answer.add(chunk))));
  } catch (error) {
    const isFailed = error instanceof TooLong || error instanceof ReportedError;
    if (isFailed || !answer.isFinished()) throw error;
    return answer.end(true);
  }
}
