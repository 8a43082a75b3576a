import { writeFile } from 'node:fs/promises';
import { ParleyError } from '../../client/index.ts';
import {
  BeginEvaluation,
  type BeginEvaluationMutationVariables,
  EvaluationForecast,
  StopEvaluation,
} from '../../generated/operations/command.ts';
import { readSource } from '../../language/read.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import { toUpperCase } from '../../vocabulary/names.ts';
import { followEvaluation } from '../cases/follow.ts';
import { type CaseResult, countsOf, type Evaluation, lineOf } from '../cases/result.ts';
import type { Context } from '../context.ts';
import { codeFrames } from '../definitions/code-frame.ts';
import { readSourceFile } from '../definitions/source-file.ts';
import { readVariables, type VariableOptions } from '../deployments/variables.ts';
import { EXIT, Refusal } from '../errors.ts';
import { describeError } from '../failure.ts';
import { withLocalServer } from '../local/test-server.ts';
import { type Connection, connect, connectTo } from '../server/connection.ts';
import { toJUnit } from './junit.ts';
import { toMarkdown } from './markdown.ts';

export type TestOptions = VariableOptions & {
  bot: string | undefined;
  /** Whether a server starts for the tests, in place of a server that runs. */
  local: boolean;
  environment: EnvironmentName;
  repeat: number;
  model: string | undefined;
  judgeModel: string | undefined;
  /** How many of the newest recorded runs are repeated, besides the tests. */
  replay: number | undefined;
  /** A file for the results in JUnit XML. */
  junit: string | undefined;
  /** A file for the results in Markdown. */
  markdown: string | undefined;
};

/** The tests could not be run. The command exits with 2. */
class CannotRun extends Refusal {
  override readonly exitCode = EXIT.usage;
}

const STOP_MS = 5_000;

/**
 * Runs the tests of a file on the server, and prints each one as it ends.
 *
 * @throws Refusal if a test failed; with the exit code 2 if the tests could not be run.
 */
export async function test(path: string, options: TestOptions, context: Context): Promise<void> {
  const evaluation = await evaluate(path, options, context).catch((error) => {
    if (!(error instanceof ParleyError)) throw error;
    throw new CannotRun(describeError(error, context.environment));
  });
  if (options.junit !== undefined) await writeFile(options.junit, toJUnit(path, evaluation));
  if (options.markdown !== undefined)
    await writeFile(options.markdown, toMarkdown(path, evaluation));
  const { status, verdict, note, failed, diverged } = evaluation;
  await context.print(evaluation, () => countsOf(evaluation));
  if (status !== 'COMPLETED' || evaluation.cases === 0)
    throw new CannotRun(note ?? 'The evaluation was cancelled.');
  if (verdict === 'FAILED' || verdict === 'DIVERGED') {
    throw new Refusal(`${caseCount(failed + diverged, options)} of ${path} failed.`);
  }
}

/** The estimated cost of an evaluation, as text. */
function costOf({ tests, runs, modelCalls, tokens }: Cost): string {
  const recorded = runs > 0 ? ` and ${plural(runs, 'recorded run')}` : '';
  const calls = plural(modelCalls, 'call');
  return `${plural(tests, 'test')}${recorded}: about ${calls} of the model and ${plural(tokens, 'token')}`;
}

type Cost = Record<'tests' | 'runs' | 'modelCalls' | 'tokens', number>;

function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : `${noun}s`}`;
}

/** A number of cases: they are tests if no run is repeated. */
function caseCount(count: number, { replay }: TestOptions): string {
  return plural(count, replay === undefined ? 'test' : 'case');
}

async function evaluate(path: string, options: TestOptions, context: Context) {
  const { terminal } = context;
  const source = await readSourceFile(path, terminal.stdin);
  const { definition, diagnose } = readSource(source.text);
  if (definition === null) {
    terminal.note(codeFrames(source, diagnose(), terminal.errorStyle));
    throw new CannotRun(`${source.name} has mistakes. No test was run.`);
  }
  const envVars = Object.entries(await readVariables(options, context)).map(([name, value]) => ({
    name,
    value,
  }));
  const { repeat, model, judgeModel, replay: last } = options;
  const environment = toUpperCase(options.environment);
  const replay = last === undefined ? undefined : { last };
  const input = { source: source.text, environment, envVars, repeat, model, judgeModel, replay };
  const begin = { input, file: source.name };
  if (options.local)
    return withLocalServer(context, (target) =>
      execute({ ...begin, botId: target.bot }, connectTo(target, context), context),
    );
  const connection = await connect(context);
  return execute({ ...begin, botId: connection.botId(options.bot) }, connection, context);
}

type Begin = { botId: string; input: BeginEvaluationMutationVariables['input']; file: string };

/** Starts an evaluation, and follows it until it has ended. Cancels it when the user presses Ctrl-C. */
async function execute(
  { botId, input, file }: Begin,
  connection: Connection,
  context: Context,
): Promise<Evaluation> {
  const { terminal, signal } = context;
  const { evaluationForecast } = await connection.forBot(botId, () =>
    connection.graphql.run(EvaluationForecast, { botId, input }, signal),
  );
  if (evaluationForecast) terminal.progress(`Running ${costOf(evaluationForecast)}…`);
  const { startEvaluation } = await connection.forBot(botId, () =>
    connection.graphql.run(BeginEvaluation, { botId, input }, signal),
  );
  if (!startEvaluation) throw new CannotRun('The server returned no evaluation.');
  const { id } = startEvaluation;
  const show = async (result: CaseResult, { repeat }: Evaluation) => {
    const text = () => `${lineOf(file, result, repeat, terminal.style)}\n`;
    if (!context.json) await context.emit(result, text);
  };
  try {
    return await followEvaluation({ botId, id }, connection, context, show);
  } catch (error) {
    if (signal.aborted)
      await connection.graphql
        .run(StopEvaluation, { id }, AbortSignal.timeout(STOP_MS))
        .catch(() => {});
    throw error;
  }
}
