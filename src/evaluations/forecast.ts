import type { PrismaClient } from '../generated/prisma/client.ts';
import type { AgentTest } from '../language/agent-test.ts';
import type { Definition } from '../language/definition.ts';

/** The estimated cost of an evaluation, before it starts. */
export type Forecast = {
  tests: number;
  /** Recorded runs to repeat. */
  runs: number;
  /** Requests of the account: one for each attempt at a case. */
  requests: number;
  /** An estimate of the model calls, with the calls of the model that judges. */
  modelCalls: number;
  /** An estimate of the tokens of all prompts and completions. */
  tokens: number;
};

/** Characters of a token, on average. */
const CHARACTERS = 4;
/** Tokens of a reply, and of the instructions and the answer of a model that judges, on average. */
const REPLY_TOKENS = 150;
const JUDGE_TOKENS = 300;

type Part = { calls: number; tokens: number };

/** Estimates what cases cost. */
export function createForecast({ prisma }: { prisma: PrismaClient }) {
  /** Each run needs as many calls of the model as before, and one to compare. */
  const ofRuns = async (runIds: readonly string[]): Promise<Part> => {
    if (runIds.length === 0) return { calls: 0, tokens: 0 };
    const [sum] = await prisma.$queryRaw<{ tokens: number; replies: number; calls: number }[]>`
      SELECT COALESCE(sum(prompt_tokens + completion_tokens), 0)::float8 AS tokens,
        COALESCE(sum(length(COALESCE(response, ''))), 0)::float8 AS replies,
        COALESCE(sum(CASE WHEN cardinality(tools_called) > 0 THEN 2 ELSE 1 END), 0)::float8 AS calls
      FROM runs WHERE id = ANY(${[...runIds]})`;
    const { tokens = 0, replies = 0, calls = 0 } = sum ?? {};
    const judging = runIds.length * JUDGE_TOKENS + (2 * replies) / CHARACTERS;
    return { calls: calls + runIds.length, tokens: tokens + judging };
  };

  return async (
    { definition, repeat }: { definition: Definition; repeat: number },
    tests: readonly AgentTest[],
    runIds: readonly string[],
  ): Promise<Forecast> => {
    const runs = await ofRuns(runIds);
    const prompt = JSON.stringify([definition.prompt, definition.tools]).length / CHARACTERS;
    const parts = [runs, ...tests.map((test) => ofTest(test, prompt))];
    const sum = (key: keyof Part) => parts.reduce((total, part) => total + part[key], 0) * repeat;
    return {
      tests: tests.length,
      runs: runIds.length,
      requests: (tests.length + runIds.length) * repeat,
      modelCalls: sum('calls'),
      tokens: Math.round(sum('tokens')),
    };
  };
}

/** A turn needs one call of the model, another one if a tool is expected, and one for each sentence to judge. */
function ofTest({ turns }: AgentTest, prompt: number): Part {
  let [calls, tokens, history] = [0, 0, 0];
  for (const { message, expectations } of turns) {
    const own = expectations.some(({ type }) => type === 'call') ? 2 : 1;
    const judged = expectations.filter((one) => one.type === 'reply' && one.test === 'judged');
    history += message.length / CHARACTERS;
    calls += own + judged.length;
    tokens += own * (prompt + history + REPLY_TOKENS) + judged.length * JUDGE_TOKENS;
    history += REPLY_TOKENS;
  }
  return { calls, tokens };
}
