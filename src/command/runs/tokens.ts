import type { Run } from '../../client/index.ts';

type Counts = Pick<
  Run,
  'promptTokens' | 'completionTokens' | 'tokensUsed' | 'cachedTokens' | 'reasoningTokens'
>;

/** The tokens of a run, such as `400 + 20 = 420 (100 cached, 12 reasoning)`. */
export function tokens(run: Counts): string {
  const parts = [
    ...(run.cachedTokens ? [`${run.cachedTokens} cached`] : []),
    ...(run.reasoningTokens ? [`${run.reasoningTokens} reasoning`] : []),
  ];
  const sum = `${run.promptTokens} + ${run.completionTokens} = ${run.tokensUsed}`;
  return parts.length > 0 ? `${sum} (${parts.join(', ')})` : sum;
}
