import { actorOf } from '../accounts/audit.ts';
import type { Caller } from '../accounts/caller.ts';
import { invalidInput } from '../errors/errors.ts';
import { type EvaluationRequest, MAX_REPEAT } from '../evaluations/evaluations.ts';
import {
  DEFAULT_REPLAYED,
  MAX_REPLAYED,
  type ReplayRequest,
} from '../evaluations/replay-request.ts';
import { BOUNDS } from '../language/bounds.ts';
import { definitionSource, MAX_ENV_VARS, modelName } from '../text/input.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import { EnvVarInput } from './deploy.ts';
import { RunFilterInput } from './run-filter.ts';
import { EnvironmentEnum } from './shared.ts';

const EvaluationReplayInput = builder.inputType('EvaluationReplayInput', {
  description: 'The recorded runs that an evaluation repeats, newest first.',
  fields: (t) => ({
    filter: t.field({
      type: RunFilterInput,
      description:
        'Conditions that each run must match. Only finished chats and executions are repeated: those with the status COMPLETED or FAILED. Defaults to all of them.',
    }),
    last: t.int({
      description: `How many of the newest matching runs are repeated, 1 to ${MAX_REPLAYED}. Defaults to ${DEFAULT_REPLAYED}.`,
    }),
    runIds: t.idList({
      description: `IDs of the runs to repeat, at most ${MAX_REPLAYED}, in place of \`filter\` and \`last\`.`,
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [MAX_REPLAYED, { message: `must be at most ${MAX_REPLAYED}` }],
      },
    }),
    session: t.boolean({
      description:
        'Whether each run gets its recorded history and memory. Without them, each message is the first of a conversation. Defaults to true.',
    }),
  }),
});

const EvaluationInput = builder.inputType('EvaluationInput', {
  description: 'What to evaluate.',
  fields: (t) => ({
    source: t.string({
      description:
        'Source of the definition in agentlang 5, at most 256 KiB. Either this, `deploymentId` or `evaluationId`.',
      validate: { schema: definitionSource },
    }),
    deploymentId: t.id({ description: 'ID of the deployment whose source is evaluated.' }),
    evaluationId: t.id({
      description: 'ID of the evaluation whose source is evaluated again.',
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Environment whose variables are used. Defaults to PRODUCTION.',
    }),
    envVars: t.field({
      type: [EnvVarInput],
      description:
        'Variables in addition to the variables of the active deployment. A variable of the active deployment is sent only to URLs that already received it, compared up to the first template in their path.',
      validate: { maxLength: [MAX_ENV_VARS, { message: `must be at most ${MAX_ENV_VARS}` }] },
    }),
    tests: t.boolean({
      description:
        'Whether the tests of the definition are cases. Required to be true without `replay`. Defaults to true.',
    }),
    testNames: t.stringList({
      description: `Names of the tests that are cases, at most ${BOUNDS.tests}. Defaults to all tests.`,
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [BOUNDS.tests, { message: `must be at most ${BOUNDS.tests}` }],
      },
    }),
    replay: t.field({
      type: EvaluationReplayInput,
      description:
        'Recorded runs that are cases too: each is repeated with the definition, with its recorded message, context, history, memory and time, and with the recorded results of its tools. Requires the scope RUNS too.',
    }),
    repeat: t.int({
      description: `How often each case is executed, 1 to ${MAX_REPEAT}. A case passes if all of its attempts pass. Defaults to 1.`,
    }),
    model: t.string({
      description: 'Model in place of the model of the definition, at most 128 characters.',
      validate: { schema: modelName },
    }),
    judgeModel: t.string({
      description:
        'Model that judges replies, in place of the model that the operator or the definition names, at the same server. At most 128 characters.',
      validate: { schema: modelName },
    }),
  }),
});

/** The arguments of an evaluation and of its forecast. */
export const requestArguments = builder.args((t) => ({
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  input: t.field({
    type: EvaluationInput,
    required: true,
    description: 'What to evaluate.',
  }),
}));

/** Who may evaluate: recorded runs need the scope RUNS too. */
export const mayEvaluate = (botId: string, { replay }: typeof EvaluationInput.$inferInput) => ({
  $all: {
    bot: { id: botId, scope: 'DEPLOY' as const },
    ...(replay && { scope: 'RUNS' as const }),
  },
});

/** @throws GatewayError `invalid_request` if members of the input do not go together. */
export function requestOf(
  botId: string,
  input: typeof EvaluationInput.$inferInput,
  caller: Caller,
): EvaluationRequest {
  const { environment, envVars, tests, testNames, replay, repeat, model, judgeModel } = input;
  if (tests === false && testNames) throw invalidInput([NO_TESTS_BUT_NAMES]);
  return {
    ...actorOf(caller),
    botId,
    environment: environment ?? DEFAULT_ENVIRONMENT,
    of: sourceOf(input),
    envVars: Object.fromEntries((envVars ?? []).map(({ name, value }) => [name, value])),
    tests: testNames ?? tests ?? true,
    replay: replay ? replayOf(replay) : undefined,
    repeat: repeat ?? 1,
    model: model ?? undefined,
    judgeModel: judgeModel ?? undefined,
  };
}

function sourceOf({
  source,
  deploymentId,
  evaluationId,
}: typeof EvaluationInput.$inferInput): EvaluationRequest['of'] {
  const given = [
    ...(source == null ? [] : [{ source }]),
    ...(deploymentId == null ? [] : [{ deploymentId }]),
    ...(evaluationId == null ? [] : [{ evaluationId }]),
  ];
  const [only] = given;
  if (!only || given.length > 1) throw invalidInput([ONE_SOURCE]);
  return only;
}

const ONE_SOURCE = {
  path: 'input.source',
  message: 'is required without deploymentId and evaluationId, and does not go together with them',
};
const NO_TESTS_BUT_NAMES = { path: 'input.testNames', message: 'requires tests to be true' };

function replayOf({
  filter,
  last,
  runIds,
  session,
}: typeof EvaluationReplayInput.$inferInput): ReplayRequest {
  if (runIds && (filter || last != null)) throw invalidInput([NO_IDS]);
  const of = runIds ? { runIds } : { filter: filter ?? {}, last: last ?? DEFAULT_REPLAYED };
  return { of, session: session ?? true };
}

const NO_IDS = {
  path: 'input.replay.runIds',
  message: 'does not go together with filter or last',
};
