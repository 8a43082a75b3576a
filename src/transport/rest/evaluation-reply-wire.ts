import { z } from 'zod';
import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import {
  CALL_CHANGE_NAMES,
  EVALUATION_STATUS_NAMES,
  EVALUATION_VERDICT_NAMES,
  REPLY_OUTCOME_NAMES,
} from '../../vocabulary/evaluations.ts';
import { evaluationParams } from './evaluation-wire.ts';
import { nextCursor } from './replies.ts';
import { time } from './wire.ts';

const count = (description: string, example = 0) =>
  z
    .number()
    .int()
    .meta({ description, examples: [example] });

export const startedReply = z
  .object({
    evaluation_id: evaluationParams.shape.evaluation_id,
    status: z
      .enum(EVALUATION_STATUS_NAMES)
      .meta({ description: 'State. `queued` and `running` are not final.', examples: ['running'] }),
    verdict: z
      .enum(EVALUATION_VERDICT_NAMES)
      .nullable()
      .meta({
        description:
          '`passed` if at least one case has passed, and none has failed or diverged. Null unless it is `completed`.',
        examples: [null],
      }),
    note: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed, or why it has no cases.', examples: [null] }),
    environment: z
      .enum(ENVIRONMENT_NAMES)
      .meta({ description: 'Environment whose variables it uses.', examples: ['production'] }),
    source_hash: z.string().meta({
      description: 'SHA-256 of the source, in hexadecimal digits.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    model: z
      .string()
      .nullable()
      .meta({ description: 'Model in place of the model of the definition.', examples: [null] }),
    judge_model: z
      .string()
      .nullable()
      .meta({
        description: 'Model that judges replies, in place of the default one.',
        examples: [null],
      }),
    repeat: count('How often each case is run.', 1),
    cases: count('Number of tests and recorded runs.', 3),
    passed: count('Number of cases that have passed.', 2),
    failed: count('Number of cases that have failed.'),
    diverged: count('Number of cases that have diverged.'),
    skipped: count('Number of cases that were skipped.'),
    prompt_tokens: count('Tokens of all prompts.', 812),
    completion_tokens: count('Tokens of all completions.', 96),
    created_at: time.meta({ description: 'Time of the request.' }),
    started_at: time.nullable().meta({ description: 'Time at which the first case began.' }),
    finished_at: time.nullable().meta({ description: 'Time at which it ended.' }),
  })
  .meta({
    id: 'Evaluation',
    description: 'One execution of the tests of a definition, of recorded runs, or of both.',
  });

const verdictName = z.enum(EVALUATION_VERDICT_NAMES);

const ARGUMENTS_TEXT =
  'Arguments, as the text of a JSON object. One of more than 16,384 characters, or 1,024 for a recorded run, is cut: it ends ' +
  'with `…`, its length and the start of its SHA-256.';

const callReply = z.object({
  name: z.string().meta({ description: 'Tool.', examples: ['orders.lookup'] }),
  arguments: z.string().meta({
    description: ARGUMENTS_TEXT,
    examples: ['{"order_id":"A-1042"}'],
  }),
  result: z.string().meta({
    description: 'Answer of the test, or recorded result.',
    examples: ['shipped'],
  }),
  failed: z.boolean().meta({ description: 'Whether the call failed.' }),
});

const ARGUMENTS = { description: ARGUMENTS_TEXT, examples: ['{}'] };

const comparisonReply = z
  .object({
    outcome: z
      .enum(REPLY_OUTCOME_NAMES)
      .nullable()
      .meta({
        description:
          'How the new reply compares with the recorded one. Null if the replies were not compared.',
        examples: ['same'],
      }),
    reason: z
      .string()
      .nullable()
      .meta({
        description: 'Sentence of the model that compared the replies, or why it did not.',
        examples: ['Both name the same day.'],
      }),
    new_reply: z
      .enum(['A', 'B'])
      .nullable()
      .meta({
        description: 'Letter of the new reply in `reason`. Null if no model was asked.',
        examples: ['A'],
      }),
    call_changes: z
      .array(
        z.object({
          change: z.enum(CALL_CHANGE_NAMES).meta({
            description: 'Whether the call is new, is missing, or has other arguments.',
            examples: ['changed'],
          }),
          name: z.string().meta({ description: 'Tool.', examples: ['orders.lookup'] }),
          arguments: z.string().nullable().meta(ARGUMENTS),
          recorded_arguments: z.string().nullable().meta(ARGUMENTS),
        }),
      )
      .meta({ description: 'How the calls differ from the recorded ones: the first 20.' }),
    recorded: z
      .object({
        reply: z.string().meta({ description: 'Recorded reply.', examples: ['It has shipped.'] }),
        error: z
          .string()
          .nullable()
          .meta({ description: 'Why the recorded run failed.', examples: [null] }),
        calls: z.array(callReply).meta({ description: 'Recorded calls: the first 20.' }),
        prompt_tokens: count('Tokens of its prompts.', 120),
        completion_tokens: count('Completion tokens of the model that compared the replies.', 12),
        latency_ms: count('Duration in milliseconds, without tool calls.', 640),
      })
      .meta({ description: 'The recorded run.' }),
    feedback: z
      .array(
        z.object({
          rating: z.enum(['up', 'down']).meta({ description: 'Rating.', examples: ['down'] }),
          note: z
            .string()
            .nullable()
            .meta({ description: 'Note of the author.', examples: ['Wrong day.'] }),
        }),
      )
      .meta({ description: 'Feedback on the recorded run.' }),
    judge_prompt_tokens: count('Tokens of the prompts of the model that compared.', 0),
    judge_completion_tokens: count('Tokens of the completions of the model that compared.', 0),
  })
  .meta({ description: 'The new run beside the recorded one.' });

const attemptReply = z.object({
  verdict: verdictName.meta({ description: 'What became of the attempt.', examples: ['passed'] }),
  error: z
    .string()
    .nullable()
    .meta({
      description:
        'Why the conversation ended early, which call was not recorded, or why a run was not repeated.',
      examples: [null],
    }),
  comparison: comparisonReply
    .nullable()
    .meta({ description: 'The new run beside the recorded one. Null for a test.' }),
  turns: z
    .array(
      z.object({
        message: z.string().meta({ description: 'Message of the user.', examples: ['Hi'] }),
        reply: z.string().meta({ description: 'Reply of the agent.', examples: ['Hello.'] }),
        calls: z.array(callReply).meta({ description: 'Tool calls of the turn.' }),
        expectations: z
          .array(
            z.object({
              line: count('Line of the expectation.', 18),
              column: count('Column of the expectation.', 5),
              expectation: z.string().meta({
                description: 'The expectation, without `expect`.',
                examples: ['reply contains "shipped"'],
              }),
              verdict: verdictName.meta({ description: 'Whether it holds.', examples: ['passed'] }),
              detail: z
                .string()
                .nullable()
                .meta({
                  description: 'The actual value, or the reason of the model that judged.',
                  examples: [null],
                }),
            }),
          )
          .meta({ description: 'Expectations of the turn.' }),
        prompt_tokens: count('Tokens of the prompts.', 120),
        completion_tokens: count('Tokens of the completions.', 12),
        latency_ms: count('Duration in milliseconds.', 640),
      }),
    )
    .meta({ description: 'Turns of the conversation.' }),
});

const result = z.object({
  name: z.string().meta({
    description: 'Name of the test, or ID of the recorded run.',
    examples: ['finds an order'],
  }),
  run_id: z
    .string()
    .nullable()
    .meta({
      description: 'Opaque ID of the recorded run that is repeated. Null for a test.',
      examples: [null],
    }),
  line: count('Line of the test in the source. 1 for a recorded run.', 12),
  column: count('Column of the test in the source. 1 for a recorded run.', 3),
  verdict: z
    .enum(EVALUATION_VERDICT_NAMES)
    .nullable()
    .meta({ description: 'Null until all attempts have ended.', examples: ['passed'] }),
  passed_attempts: count('Number of attempts that have passed.', 1),
  attempts: z.array(attemptReply).meta({
    description:
      'The attempts that have ended, in order. Empty for a recorded run without the scope `runs`.',
  }),
});

export const evaluationReply = startedReply
  .extend({
    results: z.array(result).meta({
      description: 'A page of tests in the order of the source, then recorded runs, newest first.',
    }),
    next_cursor: nextCursor(),
  })
  .meta({
    id: 'EvaluationWithResults',
    description: 'An evaluation with a page of its results so far.',
  });

export const evaluationsReply = z
  .object({
    evaluations: z.array(startedReply).meta({ description: 'Evaluations, newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'EvaluationList' });
