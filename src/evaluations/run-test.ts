import type { Agent } from '../agent/agent.ts';
import type { Script } from '../agent/scripted-agent.ts';
import { GatewayError } from '../errors/errors.ts';
import type { AgentTest, Expectation } from '../language/agent-test.ts';
import type { HistoryMessage } from '../sessions/history.ts';
import { isJsonObject } from '../text/json.ts';
import {
  type Attempt,
  type Checked,
  shortened,
  storedCall,
  type Turn,
  type Verdict,
  verdictOf,
} from './case-result.ts';
import { converse, isModelAway, latest } from './converse.ts';
import { checkExpectation, type Shown, textOf } from './expectations.ts';
import type { EvaluatedDeployment, Judge } from './judge.ts';
import { aboutStatement } from './questions.ts';
import { memoryOf, takeInTurn } from './script-parts.ts';

/**
 * Runs a test once: the agent answers each turn, with tools that the test answers. Nothing is sent but calls of the model.
 *
 * @throws GatewayError if the model cannot be reached: that says nothing about the definition.
 */
export type RunTest = (
  deployment: EvaluatedDeployment,
  test: AgentTest,
  signal: AbortSignal,
) => Promise<Attempt>;

const SESSION = { key: 'test', turns: 0, leaseId: 'test' };

export function createRunTest({
  scriptedAgent,
  judge,
}: {
  scriptedAgent: (script: Script) => Agent;
  judge: Judge;
}): RunTest {
  return async (deployment, test, signal) => {
    const facts: Record<string, string> = { ...test.memory };
    const { script, unanswered } = createScript(test, facts);
    const agent = scriptedAgent(script);
    const history: HistoryMessage[] = [];
    const turns: Turn[] = [];

    const answer = async (message: string) => {
      const recollection = {
        messages: latest(history, deployment.definition.history),
        facts: { ...facts },
      };
      const task = {
        deployment,
        session: { ...SESSION, turns: turns.length },
        recollection,
        sessionId: 'test',
        message,
        context: isJsonObject(test.context) ? test.context : {},
      };
      const { messages, ...answered } = await converse(agent, task, signal);
      history.push({ role: 'USER', text: message }, ...messages);
      return answered;
    };

    const check = async (expectation: Expectation, message: string, shown: Shown) => {
      if (expectation.type !== 'reply' || expectation.test !== 'judged')
        return { checked: checkExpectation(expectation, shown) };
      const { text: statement, line, column } = expectation;
      const question = aboutStatement({ statement, message, reply: shown.reply });
      const { usage, ...judged } = await judge(deployment, question, signal);
      const [verdict, reason]: [Verdict, string] =
        'answer' in judged
          ? [judged.answer.holds === true ? 'PASSED' : 'FAILED', String(judged.answer.reason)]
          : ['SKIPPED', judged.skipped];
      const detail = deployment.redactor.redact(shortened(reason));
      const checked = { line, column, expectation: textOf(expectation), verdict, detail };
      return { checked, usage };
    };

    try {
      for (const { message, expectations } of test.turns) {
        const { output, reply, ...shown } = await answer(message);
        const turn = {
          ...shown,
          message: shortened(message),
          reply: shortened(reply),
          calls: shown.calls.map((call) => storedCall(call)),
        };
        const results: Checked[] = [];
        for (const expectation of expectations) {
          const { checked, usage } = await check(expectation, message, { ...shown, reply, output });
          results.push(checked);
          turn.promptTokens += usage?.promptTokens ?? 0;
          turn.completionTokens += usage?.completionTokens ?? 0;
        }
        turns.push({ ...turn, expectations: results });
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      if (isModelAway(error)) throw error;
      return { verdict: 'FAILED', error: error.message, turns };
    }
    const [missing] = unanswered;
    if (missing !== undefined) {
      const message = `The test has no answer for the call ${missing}.`;
      return { verdict: 'FAILED', error: shortened(message), turns };
    }
    const verdicts = turns.flatMap(({ expectations }) =>
      expectations.map(({ verdict }) => verdict),
    );
    return { verdict: verdictOf(verdicts), turns };
  };
}

/** The answers of the tools of one test, in order; the last one of a tool repeats. */
function createScript({ tools, turns }: AgentTest, facts: Record<string, string>) {
  const answers = Map.groupBy(tools, ({ tool }) => tool);
  const take = takeInTurn(answers);
  const unanswered: string[] = [];
  const expected = turns.flatMap(({ expectations }) =>
    expectations.flatMap((one) => ('tool' in one && one.tool !== undefined ? [one.tool] : [])),
  );
  const script: Script = {
    memory: memoryOf(facts),
    tools: [...answers.keys(), ...expected],
    answers: (tool) => answers.has(tool),
    answer(tool, input) {
      const answer = take(tool);
      if (!answer) unanswered.push(`${tool} ${JSON.stringify(input)}`);
      return answer;
    },
  };
  return { script, unanswered };
}
