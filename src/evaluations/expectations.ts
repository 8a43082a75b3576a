import { isDeepStrictEqual } from 'node:util';
import type { Expectation, JsonObject } from '../language/agent-test.ts';
import { isJsonObject } from '../text/json.ts';
import { type Call, type Checked, shortened, type Turn } from './case-result.ts';

/** What a turn showed, with the whole texts of its calls. */
export type Shown = Pick<Turn, 'reply' | 'calls' | 'promptTokens' | 'completionTokens'> & {
  output: JsonObject | undefined;
};

/** Characters of the actual value in a failed expectation. */
const MAX_DETAIL = 500;

/** Checks an expectation that needs no model. */
export function checkExpectation(
  expectation: Exclude<Expectation, { type: 'reply'; test: 'judged' }>,
  shown: Shown,
): Checked {
  const problem = problemOf(expectation, shown);
  const { line, column } = expectation;
  const text = textOf(expectation);
  if (problem === undefined) return { line, column, expectation: text, verdict: 'PASSED' };
  return {
    line,
    column,
    expectation: text,
    verdict: 'FAILED',
    detail: shortened(problem, MAX_DETAIL),
  };
}

/** Describes the actual value of a failed expectation; undefined if the expectation holds. */
function problemOf(expectation: Expectation, shown: Shown): string | undefined {
  switch (expectation.type) {
    case 'reply':
      return holdsOf(expectation, shown.reply) ? undefined : `The reply was: ${shown.reply}`;
    case 'output':
      return hasMembers(shown.output ?? {}, expectation.members)
        ? undefined
        : `The output was: ${JSON.stringify(shown.output ?? null)}`;
    case 'call': {
      const { tool, input } = expectation;
      const isMade = shown.calls.some(
        (call) => call.name === tool && hasMembers(inputOf(call), input),
      );
      return isMade ? undefined : callsOf(shown.calls);
    }
    case 'no-call': {
      const { tool } = expectation;
      const made = shown.calls.filter(({ name }) => tool === undefined || name === tool);
      return made.length === 0 ? undefined : callsOf(made);
    }
    case 'tokens': {
      const tokens = shown.promptTokens + shown.completionTokens;
      return tokens < expectation.below ? undefined : `The turn used ${tokens} tokens.`;
    }
  }
}

function holdsOf({ test, text }: Extract<Expectation, { type: 'reply' }>, reply: string): boolean {
  const contains = reply.toLowerCase().includes(text.trim().toLowerCase());
  if (test === 'contains') return contains;
  return test === 'omits' ? !contains : reply.trim() === text.trim();
}

function hasMembers(value: JsonObject, members: JsonObject): boolean {
  return Object.entries(members).every(
    ([name, member]) => Object.hasOwn(value, name) && isDeepStrictEqual(value[name], member),
  );
}

function inputOf({ arguments: text }: Pick<Call, 'arguments'>): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}

function callsOf(calls: readonly Call[]): string {
  if (calls.length === 0) return 'There was no call.';
  return `The calls were: ${calls.map((call) => `${call.name} ${call.arguments}`).join('; ')}`;
}

/** An expectation in a few words, as its line begins. */
export function textOf(expectation: Expectation): string {
  switch (expectation.type) {
    case 'reply':
      return shortened(
        `reply ${expectation.test} ${JSON.stringify(expectation.text.trim())}`,
        MAX_DETAIL,
      );
    case 'output':
      return shortened(`output ${JSON.stringify(expectation.members)}`, MAX_DETAIL);
    case 'call':
      return shortened(`call ${expectation.tool} ${JSON.stringify(expectation.input)}`, MAX_DETAIL);
    case 'no-call':
      return ['no call', expectation.tool].filter(Boolean).join(' ');
    case 'tokens':
      return `tokens below ${expectation.below}`;
  }
}
