import type { FollowNotices, Notice } from '../coordination/notices.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Drafts } from '../deployments/drafts.ts';
import type { EnvironmentCipher, EnvironmentVariables } from '../deployments/environment.ts';
import { EVALUATION_WORK } from '../deployments/evaluation-work.ts';
import { basisOf, hashOf } from '../deployments/gate.ts';
import type { ReadSource } from '../deployments/read-source.ts';
import { GatewayError, invalidInput, notFound } from '../errors/errors.ts';
import type { Environment, Evaluation, PrismaClient } from '../generated/prisma/client.ts';
import type { AgentTest } from '../language/agent-test.ts';
import { type Diagnostic, formatDiagnostic } from '../language/diagnostic.ts';
import { makeId } from '../text/ids.ts';
import { createForecast, type Forecast } from './forecast.ts';
import type { FindReplayed, ReplayRequest, Search } from './replay-request.ts';

/** What to evaluate. */
export type EvaluationRequest = {
  accountId: string;
  keyId: string | null;
  botId: string;
  environment: Environment;
  /** A source in agentlang 5, or the id of a deployment or an evaluation that has it. */
  of: { source: string } | { deploymentId: string } | { evaluationId: string };
  /** Merged over the variables of the environment's active deployment. */
  envVars: EnvironmentVariables;
  /** Which tests of the source are cases: all, none, or those with these names. */
  tests: boolean | readonly string[];
  /** The recorded runs that are cases, after the tests. */
  replay: ReplayRequest | undefined;
  /** How often each case is executed: 1 to `MAX_REPEAT`. */
  repeat: number;
  /** The model in place of the model of the source. */
  model: string | undefined;
  /** The model that judges, in place of `PARLEY_JUDGE_MODEL` or the model of the source. */
  judgeModel: string | undefined;
};

/** Executions of the tests of definitions, and of recorded runs with other definitions. Source: `docs/test-an-agent.md`. */
export type Evaluations = {
  /**
   * Stores an evaluation, which a worker then executes. Without cases, it has ended.
   *
   * @param search runs the searches of runs for a replay.
   * @throws GatewayError `definition_invalid`, `deployment_not_found`, `evaluation_not_found`, `run_not_found`, `invalid_request`, or
   *   `rate_limit_exceeded` if the account has `MAX_QUEUED` evaluations that have not begun.
   */
  start(request: EvaluationRequest, search: Search): Promise<Evaluation>;
  /** Estimates the cost of an evaluation. Stores nothing. @throws GatewayError as `start`. */
  forecast(request: EvaluationRequest, search: Search): Promise<Forecast>;
  /**
   * Cancels an evaluation. Finished cases are kept. No effect on one that has ended.
   *
   * @throws GatewayError `evaluation_not_found`
   */
  cancel(id: string): Promise<Evaluation>;
  /** Notifies subscribers that an evaluation has changed. */
  notify(id: string): void;
  /** Yields a notice for each change of an evaluation, until the signal aborts. */
  follow(id: string, signal: AbortSignal): AsyncIterable<Notice>;
};

export const MAX_REPEAT = 10;
/** Evaluations of an account that have not begun. */
export const MAX_QUEUED = 10;

const channelOf = (id: string): string => `evaluation:${id}`;

export function createEvaluations({
  prisma,
  pubsub,
  followNotices,
  drafts,
  cipher,
  read,
  findReplayed,
}: {
  prisma: PrismaClient;
  pubsub: PubSub;
  followNotices: FollowNotices;
  drafts: Drafts;
  cipher: EnvironmentCipher;
  read: ReadSource;
  findReplayed: FindReplayed;
}): Evaluations {
  const forecast = createForecast({ prisma });
  const notify = (id: string) => pubsub.publish(channelOf(id), id);

  const sourceOf = async ({ botId, of }: EvaluationRequest): Promise<string> => {
    if ('source' in of) return of.source;
    if ('evaluationId' in of) {
      const where = { id: of.evaluationId, botId };
      const evaluation = await prisma.evaluation.findUnique({ where, select: { source: true } });
      if (!evaluation) throw notFound('evaluation', of.evaluationId);
      return evaluation.source;
    }
    const where = { id: of.deploymentId, botId };
    const deployment = await prisma.deployment.findUnique({ where, select: { source: true } });
    if (!deployment) throw notFound('deployment', of.deploymentId);
    return deployment.source;
  };

  const assertPlace = async (accountId: string) => {
    const where = { accountId, status: 'QUEUED' as const };
    if ((await prisma.evaluation.count({ where })) < MAX_QUEUED) return;
    const message = `This account has ${MAX_QUEUED} evaluations waiting. Try again when one begins.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfter: 5 });
  };

  /** What a request evaluates. */
  const readRequest = async (request: EvaluationRequest, search: Search) => {
    const { botId, environment, envVars, repeat, replay } = request;
    if (!Number.isInteger(repeat) || repeat < 1 || repeat > MAX_REPEAT)
      throw invalidInput([{ path: 'input.repeat', message: `must be 1 to ${MAX_REPEAT}` }]);
    if (!request.tests && !replay)
      throw invalidInput([{ path: 'input.tests', message: 'must be true without a replay' }]);
    const source = await sourceOf(request);
    const { definition, tests, diagnose } = await read(source);
    if (!definition) throw invalidDefinition(diagnose());
    const { variables } = await drafts.prepare(botId, environment, { source, envVars });
    const runIds = replay ? await findReplayed(botId, replay, search) : [];
    return { source, definition, variables, tests: selected(tests, request.tests), runIds };
  };

  return {
    notify,
    follow: (id, signal) => followNotices(channelOf(id), signal),

    async forecast(request, search) {
      const { definition, tests, runIds } = await readRequest(request, search);
      return forecast({ definition, repeat: request.repeat }, tests, runIds);
    },

    async start(request, search) {
      const { accountId, keyId, botId, environment, repeat, model, judgeModel, replay } = request;
      await assertPlace(accountId);
      const { source, variables, tests, runIds } = await readRequest(request, search);
      const cases = casesOf(tests, runIds);
      const note = request.tests && replay ? NO_CASES : replay ? NO_RUNS : NO_TESTS;
      const basis = basisOf({
        environment,
        variables: cipher.fingerprint(variables),
        model: model ?? null,
        judgeModel: judgeModel ?? null,
        tests: request.tests,
        replay: replay ? { ...replay.of, session: replay.session } : null,
        repeat,
      });
      const id = makeId('eva');
      const isEmpty = cases.length === 0;
      const stored = await prisma.evaluation.create({
        data: {
          ...newEvaluation({ botId, accountId, keyId, source, repeat, basis, cases }),
          id,
          environment,
          envVars: isEmpty ? null : cipher.encrypt(id, variables),
          model: model ?? null,
          judgeModel: judgeModel ?? null,
          replaySession: replay?.session ?? true,
          ...(isEmpty && { status: 'COMPLETED', note, finishedAt: new Date() }),
        },
      });
      pubsub.publish(EVALUATION_WORK, '');
      return stored;
    },

    async cancel(id) {
      await prisma.$executeRaw`
        UPDATE evaluations SET cancel_requested = true,
          status = CASE status WHEN 'QUEUED' THEN 'CANCELLED'::"EvaluationStatus" ELSE status END,
          finished_at = CASE status WHEN 'QUEUED' THEN now() END,
          env_vars = CASE status WHEN 'QUEUED' THEN NULL ELSE env_vars END
        WHERE id = ${id} AND finished_at IS NULL`;
      pubsub.publish(EVALUATION_WORK, '');
      notify(id);
      const stored = await prisma.evaluation.findUnique({ where: { id } });
      if (!stored) throw notFound('evaluation', id);
      return stored;
    },
  };
}

/** Errors that the message of a refusal quotes. */
const QUOTED = 5;

function invalidDefinition(diagnostics: readonly Diagnostic[]): GatewayError {
  const errors = diagnostics.filter(({ severity }) => severity === 'ERROR');
  const lines = errors.slice(0, QUOTED).map(formatDiagnostic);
  const more = errors.length > QUOTED ? `; and ${errors.length - QUOTED} more` : '';
  const message = `The definition has errors: ${lines.join('; ')}${more}`;
  return new GatewayError('definition_invalid', message, { diagnostics });
}

/** The tests that a request selects. @throws GatewayError for the name of no test. */
function selected(tests: AgentTest[], request: EvaluationRequest['tests']): AgentTest[] {
  if (typeof request === 'boolean') return request ? tests : [];
  const unknown = request.findIndex((name) => tests.every((test) => test.name !== name));
  if (unknown >= 0)
    throw invalidInput([
      { path: `input.testNames.${unknown}`, message: 'names no test of the definition' },
    ]);
  return tests.filter(({ name }) => request.includes(name));
}

const NO_TESTS = 'The definition has no tests.';
const NO_RUNS = 'No finished run matches.';
const NO_CASES = 'The definition has no tests, and no finished run matches.';

/** The columns that every new evaluation has. */
export function newEvaluation({
  source,
  cases,
  ...columns
}: Pick<Evaluation, 'botId' | 'accountId' | 'keyId' | 'source' | 'repeat' | 'basis'> & {
  cases: ReturnType<typeof casesOf>;
}) {
  const results = { createMany: { data: cases } };
  return { ...columns, source, sourceHash: hashOf(source), cases: cases.length, results };
}

/** The cases in their order: the tests, then the recorded runs, which have no place in the source. */
export function casesOf(tests: readonly AgentTest[], runIds: readonly string[]) {
  const places = [
    ...tests.map(({ name, line, column }) => ({ name, line, column, runId: null })),
    ...runIds.map((runId) => ({ name: runId, line: 1, column: 1, runId })),
  ];
  return places.map((place, position) => ({ id: makeId('eca'), position, ...place }));
}
