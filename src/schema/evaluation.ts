import { z } from 'zod';
import { notFound } from '../errors/errors.ts';
import { attempt } from '../evaluations/case-result.ts';
import { type EvaluationVerdict, Prisma } from '../generated/prisma/client.ts';
import { EVALUATION_STATUSES } from '../vocabulary/evaluations.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { AttemptObject, EvaluationVerdictEnum } from './evaluation-attempt.ts';
import { readWithin } from './long-columns.ts';
import { scopeOfBot, visibleById } from './of-bot.ts';
import type { TreeDemand } from './read-budget.ts';
import { demandIn } from './selection.ts';
import { EnvironmentEnum } from './shared.ts';

const EvaluationStatusEnum = builder.enumType('EvaluationStatus', {
  description: 'State of an evaluation.',
  values: EVALUATION_STATUSES,
});

/** A case as its table stores it. */
type CaseRow = {
  id: string;
  evaluationId: string;
  runId: string | null;
  name: string;
  line: number;
  column: number;
  verdict: EvaluationVerdict | null;
  finished: number;
  passed: number;
  attempts: unknown;
};

const EvaluationCaseObject = builder.objectRef<CaseRow>('EvaluationCase').implement({
  description: 'A test or a recorded run of an evaluation, with its results.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier. Opaque; it never changes.' }),
    runId: t.exposeID('runId', {
      nullable: true,
      description: 'ID of the recorded run that it repeats, which may be deleted. Null for a test.',
    }),
    name: t.exposeString('name', {
      description: 'Name of the test, at most 200 characters, or ID of the recorded run.',
    }),
    line: t.exposeInt('line', {
      description: 'Line of the test in the source, starting at 1. 1 for a recorded run.',
    }),
    column: t.exposeInt('column', {
      description: 'Column of the test, starting at 1. 1 for a recorded run.',
    }),
    verdict: t.expose('verdict', {
      type: EvaluationVerdictEnum,
      nullable: true,
      description: 'Verdict of the case. Null until all attempts have ended.',
    }),
    finishedAttempts: t.exposeInt('finished', {
      description: 'Number of attempts that have ended.',
    }),
    passedAttempts: t.exposeInt('passed', { description: 'Number of attempts that have passed.' }),
    attempts: t.field({
      type: [AttemptObject],
      description:
        'The attempts that have ended, in order. The list is empty for a recorded run without the scope RUNS.',
      resolve: ({ attempts, runId }, _args, { caller }) =>
        runId !== null && !caller().key.scopes.includes('RUNS')
          ? []
          : attempt.array().parse(attempts),
    }),
  }),
});

/** A part of the cases of an evaluation. */
type CasePage = { verdict: EvaluationVerdict | null; first: number | null; after: string | null };

const COLUMNS = Prisma.sql`id, evaluation_id AS "evaluationId", run_id AS "runId", name, line, "column", verdict, finished, passed, attempts`;
const TEXT_BYTES = Prisma.sql`octet_length(attempts::text)::float8`;
const OBJECTS = Prisma.sql`
  jsonb_array_length(jsonb_path_query_array(attempts, 'strict $.** ? (@.type() == "object")'))::float8`;

/**
 * Loads the cases of evaluations.
 *
 * @throws GatewayError `request_too_large` beyond the read budget.
 */
const loadCases = batchLoader(
  async (
    ids,
    { copies, entryBytes, objectBytes, verdict, first, after }: TreeDemand & CasePage,
    context,
    { timesOf },
  ) => {
    const times = ids.map(timesOf);
    const matches = verdict
      ? Prisma.sql`verdict = ${verdict}::"EvaluationVerdict"`
      : Prisma.sql`true`;
    const isAfter =
      after === null
        ? Prisma.sql`true`
        : Prisma.sql`position > (
            SELECT earlier.position FROM evaluation_cases AS earlier
            WHERE earlier.id = ${after} AND earlier.evaluation_id = evaluation)`;
    const rows = Prisma.sql`
      SELECT page.*, times * (${entryBytes}::float8 + ${copies}::float8 * ${TEXT_BYTES} + ${objectBytes}::float8 * ${OBJECTS}) AS bytes
      FROM unnest(${ids}::text[], ${times}::int[]) AS evaluation(evaluation, times) CROSS JOIN LATERAL (
        SELECT ${COLUMNS}, position FROM evaluation_cases
        WHERE evaluation_id = evaluation AND ${matches} AND ${isAfter}
        ORDER BY position LIMIT ${first}) AS page
      ORDER BY "evaluationId", position`;
    const budget = context.readBudget();
    const found = await budget.inTurn(() => readWithin<CaseRow>(context, budget, rows));
    const byEvaluation = Map.groupBy(found, ({ evaluationId }) => evaluationId);
    return (id) => byEvaluation.get(id) ?? [];
  },
);

export const EvaluationObject = builder.prismaObject('Evaluation', {
  description: 'One execution of the tests of a definition, of recorded runs, or of both.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier. Opaque; it never changes.' }),
    status: t.expose('status', { type: EvaluationStatusEnum, description: 'State.' }),
    verdict: t.field({
      type: EvaluationVerdictEnum,
      nullable: true,
      description:
        'PASSED if all cases have ended, at least one has passed, and none has failed or diverged. Null unless it is COMPLETED.',
      select: { status: true, passed: true, failed: true, diverged: true },
      resolve: ({ status, passed, failed, diverged }) => {
        if (status !== 'COMPLETED') return null;
        if (failed > 0) return 'FAILED';
        if (diverged > 0) return 'DIVERGED';
        return passed > 0 ? 'PASSED' : 'SKIPPED';
      },
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why it failed, or why it has no cases. Null otherwise.',
    }),
    environment: t.expose('environment', {
      type: EnvironmentEnum,
      description: 'Environment whose variables it uses.',
    }),
    sourceHash: t.exposeString('sourceHash', {
      description: 'SHA-256 of the source, in hexadecimal digits.',
    }),
    model: t.exposeString('model', {
      nullable: true,
      description: 'Model in place of the model of the definition. Null: the definition decides.',
    }),
    judgeModel: t.exposeString('judgeModel', {
      nullable: true,
      description:
        'Model that judges replies. Null: the model that the operator or the definition names.',
    }),
    repeat: t.exposeInt('repeat', { description: 'How often each case is executed.' }),
    cases: t.exposeInt('cases', { description: 'Number of cases.' }),
    passed: t.exposeInt('passed', { description: 'Number of cases that have passed.' }),
    failed: t.exposeInt('failed', { description: 'Number of cases that have failed.' }),
    diverged: t.exposeInt('diverged', { description: 'Number of cases that have diverged.' }),
    skipped: t.exposeInt('skipped', { description: 'Number of cases that were skipped.' }),
    promptTokens: t.exposeInt('promptTokens', { description: 'Tokens of all prompts.' }),
    completionTokens: t.exposeInt('completionTokens', {
      description: 'Tokens of all completions.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the first case began. Null before that.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which it ended. Null before that.',
    }),
    results: t.field({
      type: [EvaluationCaseObject],
      description:
        'Cases with their results so far: tests in the order of the source, then recorded runs, newest first.',
      args: {
        verdict: t.arg({
          type: EvaluationVerdictEnum,
          description: 'Returns only cases with this verdict. Defaults to all cases.',
        }),
        first: t.arg.int({
          description: 'Returns at most this many cases, 1 or more. Defaults to all cases.',
          validate: { schema: z.int().min(1, 'must be 1 or more') },
        }),
        after: t.arg.id({
          description:
            'ID of a case. Returns only cases after it, and none if the evaluation has no such case.',
        }),
      },
      resolve: ({ id }, { verdict, first, after }, context, info) => {
        const page = { verdict: verdict ?? null, first: first ?? null, after: after ?? null };
        return loadCases(id, { ...demandIn(info, context), ...page }, context, info);
      },
    }),
  }),
});

export const evaluationArguments = builder.args((t) => ({
  id: t.id({ required: true, description: 'ID of the evaluation.' }),
  botId: t.id({ description: 'ID of the bot that it must belong to. Defaults to any bot.' }),
}));

builder.queryField('evaluation', (t) =>
  t.prismaField({
    type: EvaluationObject,
    nullable: true,
    description:
      'Retrieves an evaluation. Requires the scope DEPLOY. Error: EVALUATION_NOT_FOUND, also if it belongs to a bot other than `botId`.',
    authScopes: scopeOfBot('DEPLOY'),
    args: evaluationArguments,
    resolve: async (query, _root, { id, botId }, { caller, prisma }) => {
      const where = visibleById({ id, botId }, caller());
      const evaluation = await prisma.evaluation.findFirst({ ...query, where });
      if (evaluation) return evaluation;
      throw notFound('evaluation', id);
    },
  }),
);
