import { expect, test } from 'vitest';
import { tokens } from '../../src/command/runs/tokens.ts';

test('the tokens of a run name the cached tokens and the reasoning tokens, if there are any', () => {
  const counts = { promptTokens: 400, completionTokens: 20, tokensUsed: 420 };
  expect(tokens({ ...counts, cachedTokens: null, reasoningTokens: 0 })).toBe('400 + 20 = 420');
  expect(tokens({ ...counts, cachedTokens: 100, reasoningTokens: 12 })).toBe(
    '400 + 20 = 420 (100 cached, 12 reasoning)',
  );
});
