import type {
  Attempt,
  Call,
  CallChange,
  Checked,
  Comparison,
  Turn,
} from '../evaluations/case-result.ts';
import { CALL_CHANGES, EVALUATION_VERDICTS, REPLY_OUTCOMES } from '../vocabulary/evaluations.ts';
import { builder } from './builder.ts';
import { FeedbackRatingEnum } from './run-filter.ts';

export const EvaluationVerdictEnum = builder.enumType('EvaluationVerdict', {
  description: 'Verdict of a case or of an evaluation.',
  values: EVALUATION_VERDICTS,
});

const ReplyOutcomeEnum = builder.enumType('ReplyOutcome', {
  description: 'How a new reply compares with the recorded one.',
  values: REPLY_OUTCOMES,
});

const CallChangeEnum = builder.enumType('CallChange', {
  description: 'How a call differs from the recorded ones.',
  values: CALL_CHANGES,
});

const ReplyLetterEnum = builder.enumType('ReplyLetter', {
  description: 'Label of a reply in the comparison.',
  values: { A: { description: 'The first reply.' }, B: { description: 'The second reply.' } },
});

const CUT =
  'the text of a JSON object. A long text is cut: it ends with `…`, its length and the start of its SHA-256.';

const CallObject = builder.objectRef<Call>('EvaluationCall').implement({
  description: 'A tool call of a case, which the test or the record answered.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the tool, as `<group>.<capability>`.' }),
    arguments: t.exposeString('arguments', { description: `Arguments: ${CUT}` }),
    result: t.exposeString('result', {
      description: 'Answer of the test, or recorded result. A long text is cut.',
    }),
    failed: t.exposeBoolean('failed', { description: 'Whether the call failed.' }),
  }),
});

const ExpectationObject = builder.objectRef<Checked>('EvaluationExpectation').implement({
  description: 'An expectation of a turn.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'Line in the source, starting at 1.' }),
    column: t.exposeInt('column', { description: 'Column, starting at 1.' }),
    expectation: t.exposeString('expectation', {
      description: 'The expectation as the source has it, without `expect`.',
    }),
    verdict: t.expose('verdict', {
      type: EvaluationVerdictEnum,
      description: 'Whether it holds.',
    }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'The actual value, or the reason of the model that judged.',
    }),
  }),
});

const TurnObject = builder.objectRef<Turn>('EvaluationTurn').implement({
  description: 'A message of the user, and what the agent answered.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'Message of the user.' }),
    reply: t.exposeString('reply', { description: 'Reply of the agent.' }),
    calls: t.expose('calls', { type: [CallObject], description: 'Tool calls, in order.' }),
    expectations: t.expose('expectations', {
      type: [ExpectationObject],
      description: 'Expectations of the turn, in the order of the source. None of a recorded run.',
    }),
    promptTokens: t.exposeInt('promptTokens', { description: 'Tokens of the prompts.' }),
    completionTokens: t.exposeInt('completionTokens', {
      description: 'Tokens of the completions.',
    }),
    latencyMs: t.exposeInt('latencyMs', { description: 'Duration in milliseconds.' }),
  }),
});

const CallChangeObject = builder.objectRef<CallChange>('EvaluationCallChange').implement({
  description: 'A call that differs from the calls of the recorded run.',
  fields: (t) => ({
    change: t.expose('change', { type: CallChangeEnum, description: 'How it differs.' }),
    name: t.exposeString('name', { description: 'Name of the tool.' }),
    arguments: t.exposeString('arguments', {
      nullable: true,
      description: `Arguments of the new run: ${CUT} Null for a missing call.`,
    }),
    recordedArguments: t.exposeString('recordedArguments', {
      nullable: true,
      description: `Arguments of the recorded run: ${CUT} Null for an added call.`,
    }),
  }),
});

const RecordedObject = builder.objectRef<Comparison['recorded']>('EvaluationRecord').implement({
  description: 'What the recorded run did.',
  fields: (t) => ({
    reply: t.exposeString('reply', { description: 'Recorded reply. A long text is cut.' }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the run failed. Null if it did not.',
    }),
    calls: t.expose('calls', { type: [CallObject], description: 'Tool calls, at most 20.' }),
    promptTokens: t.exposeInt('promptTokens', { description: 'Tokens of the prompts.' }),
    completionTokens: t.exposeInt('completionTokens', {
      description: 'Tokens of the completions.',
    }),
    latencyMs: t.exposeInt('latencyMs', {
      description: 'Duration in milliseconds, without the time of tool calls.',
    }),
  }),
});

const OpinionObject = builder
  .objectRef<Comparison['feedback'][number]>('EvaluationFeedback')
  .implement({
    description: 'Feedback on the recorded run, at the time of the evaluation.',
    fields: (t) => ({
      rating: t.expose('rating', { type: FeedbackRatingEnum, description: 'Thumb up or down.' }),
      note: t.exposeString('note', { nullable: true, description: 'Note of the author.' }),
    }),
  });

const ComparisonObject = builder.objectRef<Comparison>('EvaluationComparison').implement({
  description: 'A new run beside its recorded run.',
  fields: (t) => ({
    outcome: t.expose('outcome', {
      type: ReplyOutcomeEnum,
      nullable: true,
      description: 'How the replies compare. Null if they were not compared.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Sentence of the model that compared the replies, or why it did not.',
    }),
    newReply: t.expose('newReply', {
      type: ReplyLetterEnum,
      nullable: true,
      description: 'Letter of the new reply in `reason`. Null if no model was asked.',
    }),
    callChanges: t.expose('callChanges', {
      type: [CallChangeObject],
      description: 'Calls that differ, at most 20.',
    }),
    recorded: t.expose('recorded', { type: RecordedObject, description: 'The recorded run.' }),
    feedback: t.expose('feedback', {
      type: [OpinionObject],
      description: 'Feedback on the recorded run.',
    }),
    judgePromptTokens: t.int({
      description: 'Tokens of the prompts of the model that compared the replies.',
      resolve: ({ judge }) => judge.promptTokens,
    }),
    judgeCompletionTokens: t.int({
      description: 'Completion tokens of the model that compared the replies.',
      resolve: ({ judge }) => judge.completionTokens,
    }),
  }),
});

export const AttemptObject = builder.objectRef<Attempt>('EvaluationAttempt').implement({
  description: 'One execution of a case.',
  fields: (t) => ({
    verdict: t.expose('verdict', {
      type: EvaluationVerdictEnum,
      description: 'Verdict of the attempt.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description:
        'Why the conversation ended early, which call was not recorded, or why a run was not repeated.',
    }),
    turns: t.expose('turns', { type: [TurnObject], description: 'Turns of the conversation.' }),
    comparison: t.expose('comparison', {
      type: ComparisonObject,
      nullable: true,
      description: 'The new run beside the recorded one. Null for a test.',
    }),
  }),
});
