import { z } from 'zod';
import { MAX_REPEAT } from '../../evaluations/evaluations.ts';
import { DEFAULT_REPLAYED, MAX_REPLAYED } from '../../evaluations/replay-request.ts';
import {
  definitionSource,
  envValue,
  MAX_ENV_VARS,
  modelName,
  readCursor,
} from '../../text/input.ts';
import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { EVALUATION_VERDICT_NAMES } from '../../vocabulary/evaluations.ts';
import { LISTED_KIND_NAMES } from '../../vocabulary/runs.ts';
import {
  botParams,
  conversation,
  environment,
  exampleId,
  listQuery,
  NOT_AN_OBJECT,
  oneOf,
  variablesOf,
} from './wire.ts';

export const evaluationParams = botParams.extend({
  evaluation_id: z
    .string()
    .meta({ description: 'Opaque ID of the evaluation.', examples: [exampleId('eva')] }),
});

export const evaluationsQuery = listQuery({});

/** An evaluation has at most 100 tests, so that the first page has all of them. */
const RESULTS = 100;

export const resultsQuery = listQuery(
  {
    verdict: oneOf(...EVALUATION_VERDICT_NAMES).meta({
      description: 'Returns only results with this verdict.',
    }),
  },
  RESULTS,
);

/** The variables of a page of results: one more than it shows, which tells whether another page follows. */
export function resultsPage({ limit, cursor, verdict }: z.output<typeof resultsQuery>) {
  return { verdict, first: limit + 1, after: cursor && readCursor(cursor)?.[1] };
}

const replayBody = z
  .strictObject(
    {
      last: z
        .int(`must be a whole number from 1 to ${MAX_REPLAYED}`)
        .min(1, `must be 1 to ${MAX_REPLAYED}`)
        .max(MAX_REPLAYED, `must be 1 to ${MAX_REPLAYED}`)
        .optional()
        .meta({
          description: `How many of the newest matching runs are repeated, 1 to ${MAX_REPLAYED}. Defaults to ${DEFAULT_REPLAYED}.`,
          examples: [DEFAULT_REPLAYED],
        }),
      run_ids: z
        .array(z.string('must be a string'), 'must be a list of IDs')
        .min(1, 'must not be empty')
        .max(MAX_REPLAYED, `must be at most ${MAX_REPLAYED}`)
        .optional()
        .meta({
          description: `Opaque IDs of the runs to repeat, at most ${MAX_REPLAYED}, in place of all other conditions.`,
        }),
      user: conversation.optional().meta({
        description:
          'Repeats only runs of this user, identified by the session ID of 1 to 256 visible characters.',
        examples: ['user-1'],
      }),
      kind: oneOf(...LISTED_KIND_NAMES).meta({ description: 'Repeats only runs of this kind.' }),
      environment: oneOf(...ENVIRONMENT_NAMES).meta({
        description: 'Repeats only runs in this environment. Defaults to all environments.',
      }),
      feedback: oneOf('up', 'down').meta({
        description: 'Repeats only runs that have at least one such rating.',
      }),
      session: z
        .boolean('must be true or false')
        .optional()
        .meta({
          description:
            'Whether each run gets its recorded history and memory. Without them, each message is the first of a ' +
            'conversation. Defaults to `true`.',
        }),
    },
    { error: 'must be an object' },
  )
  .meta({
    description:
      'Recorded chats and executions to repeat with the definition after its tests: 1 to 500 runs, newest first. ' +
      'Requires the scope `runs` too.',
  });

export const evaluationBody = z
  .strictObject(
    {
      agentlang: definitionSource.optional().meta({
        description:
          'Source of the definition in agentlang 5. A source of more than 256 KiB fails. Either this or `deployment_id` is required.',
        examples: [
          'agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "p"\n  test "greets" {\n    user "Hi"\n  }\n}\n',
        ],
      }),
      deployment_id: z.string().optional().meta({
        description:
          'Opaque ID of the deployment whose source is evaluated, in place of `agentlang`.',
      }),
      environment,
      env_vars: variablesOf(envValue).meta({
        description:
          'Variables of the definition, in addition to the variables of the active deployment. A name has at most 128 letters, ' +
          `digits and \`_\`, and starts with no digit. There are at most ${MAX_ENV_VARS} variables, with values of at most 32 KiB each and ` +
          '64 KiB in total. Values are stored encrypted until the evaluation has ended.',
        examples: [{ MODEL_KEY: 'a secret' }],
      }),
      tests: z
        .boolean('must be true or false')
        .optional()
        .meta({ description: 'Whether the tests of the definition are run. Defaults to `true`.' }),
      replay: replayBody.optional(),
      repeat: z
        .int(`must be a whole number from 1 to ${MAX_REPEAT}`)
        .min(1, `must be 1 to ${MAX_REPEAT}`)
        .max(MAX_REPEAT, `must be 1 to ${MAX_REPEAT}`)
        .optional()
        .meta({
          description: `How often each case is run, 1 to ${MAX_REPEAT}. It passes if all attempts pass. Defaults to 1.`,
          examples: [3],
        }),
      model: modelName.optional().meta({
        description: 'Model in place of the model of the definition, at most 128 characters.',
        examples: ['gpt-6-luna'],
      }),
      judge_model: modelName.optional().meta({
        description:
          'Model that judges replies, at most 128 characters, in place of the model that the operator or the definition names. It has the same server.',
        examples: ['gpt-6-luna'],
      }),
    },
    { error: NOT_AN_OBJECT },
  )
  .meta({ id: 'EvaluationRequest' });
