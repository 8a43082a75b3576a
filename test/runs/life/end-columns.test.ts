import { expect, test } from 'vitest';
import type { EndEntry } from '../../../src/runs/life/runs.ts';
import { END } from '../../../src/runs/life/statements.ts';

/** Every member of an ended run. The type requires a new member here, so that its column is not forgotten. */
const MEMBERS: Record<keyof EndEntry, true> = {
  ownerId: true,
  attempt: true,
  status: true,
  response: true,
  output: true,
  errorCode: true,
  errorMessage: true,
  errorDetail: true,
  latencyMs: true,
  promptTokens: true,
  completionTokens: true,
  tokensEstimated: true,
  cachedTokens: true,
  reasoningTokens: true,
  model: true,
  finishReason: true,
  toolsCalled: true,
  spans: true,
  events: true,
  eventTimes: true,
  prompt: true,
  toolCalls: true,
  hasProgress: true,
  sessionKey: true,
  leaseId: true,
  turn: true,
  messages: true,
  requiresTurn: true,
};

test.each(Object.keys(MEMBERS))('the end of a run reads and stores its member %s', (name) => {
  const [, columns = '', rest = ''] = /AS requested\s+\(([^)]*)\)(.*)$/s.exec(END.text) ?? [];
  const word = new RegExp(`(^|[\\s,(."])"?${name}\\b`);
  expect(columns).toMatch(word);
  expect(rest).toMatch(word);
});
