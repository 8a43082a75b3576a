import type { ModelMessage, Usage } from '../model/model.ts';
import { MAX_INT } from '../storage/int.ts';

/** The tokens of all model calls of a run. */
export type TotalUsage = Usage & {
  /** Whether some tokens are an estimate, because a server reported no usage or a call was aborted. */
  tokensEstimated: boolean;
};

/** Sums the tokens of the model calls of one run. Each sum, and the total, is capped at the largest GraphQL Int. */
export type UsageMeter = {
  begin(messages: ModelMessage[]): {
    addText(text: string): void;
    report(usage: Usage | undefined): void;
  };
  total(): TotalUsage;
};

/** An approximation for English. Source: OpenAI's rule of thumb. */
const CHARACTERS_PER_TOKEN = 4;

export function createUsageMeter(): UsageMeter {
  const calls: { prompt: number; completion: number; reported: Usage | undefined }[] = [];
  return {
    begin(messages) {
      const prompt = messages.reduce((sum, { content }) => sum + content.length, 0);
      const call = { prompt, completion: 0, reported: undefined as Usage | undefined };
      calls.push(call);
      return {
        addText: (text) => {
          call.completion += text.length;
        },
        report: (usage) => {
          call.reported = usage;
        },
      };
    },

    total() {
      const usages: Usage[] = calls.map(
        ({ prompt, completion, reported }) =>
          reported ?? { promptTokens: estimate(prompt), completionTokens: estimate(completion) },
      );
      const promptTokens = Math.min(sum(usages.map(({ promptTokens }) => promptTokens)), MAX_INT);
      const completionTokens = sum(usages.map(({ completionTokens }) => completionTokens));
      return {
        promptTokens,
        completionTokens: Math.min(completionTokens, MAX_INT - promptTokens),
        tokensEstimated: calls.some(({ reported }) => reported === undefined),
        cachedTokens: sumKnown(usages.map(({ cachedTokens }) => cachedTokens)),
        reasoningTokens: sumKnown(usages.map(({ reasoningTokens }) => reasoningTokens)),
      };
    },
  };
}

function estimate(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The sum of the counts that are known, capped; `undefined` if none is. */
function sumKnown(counts: (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length > 0 ? Math.min(sum(known), MAX_INT) : undefined;
}

function sum(numbers: number[]): number {
  return numbers.reduce((one, other) => one + other, 0);
}
