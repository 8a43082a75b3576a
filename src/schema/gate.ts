import { z } from 'zod';
import { type Gate, MAX_GATE_RUNS, readGate } from '../deployments/gate.ts';
import { MAX_REPEAT } from '../evaluations/evaluations.ts';
import { DEFAULT_REPLAYED } from '../evaluations/replay-request.ts';
import { builder } from './builder.ts';
import { FeedbackRatingEnum } from './run-filter.ts';

/** How many replayed runs may make a call that was not recorded, by default. */
const DEFAULT_DIVERGED = 5;

const GateReplayObject = builder.objectRef<NonNullable<Gate['replay']>>('GateReplay').implement({
  description: 'The recorded runs that a gate repeats, and how many of them may be worse.',
  fields: (t) => ({
    last: t.exposeInt('last', {
      description: 'How many of the newest finished runs in PRODUCTION are repeated.',
    }),
    feedback: t.field({
      type: FeedbackRatingEnum,
      nullable: true,
      description: 'Rating that each run must have. Null: all runs.',
      resolve: ({ feedback }) => feedback ?? null,
    }),
    maxWorse: t.exposeInt('maxWorse', {
      description: 'How many of the runs may be worse than the recorded ones.',
    }),
    maxDiverged: t.exposeInt('maxDiverged', {
      description: 'How many of the runs may make a call that was not recorded.',
    }),
  }),
});

const GateObject = builder.objectRef<Gate>('Gate').implement({
  description: 'What a definition must pass before it becomes active in PRODUCTION.',
  fields: (t) => ({
    tests: t.exposeBoolean('tests', {
      description: 'Whether all tests of the definition must pass.',
    }),
    replay: t.field({
      type: GateReplayObject,
      nullable: true,
      description: 'Recorded runs that are repeated with the definition. Null: none.',
      resolve: ({ replay }) => replay,
    }),
    repeat: t.exposeInt('repeat', { description: 'How often each test and run is executed.' }),
  }),
});

builder.prismaObjectField('Bot', 'gate', (t) =>
  t.field({
    type: GateObject,
    nullable: true,
    description:
      'What a definition must pass before it becomes active in PRODUCTION. Null: nothing. Requires the scope DEPLOY.',
    authScopes: { scope: 'DEPLOY' },
    select: { gate: true },
    resolve: ({ gate }) => readGate(gate),
  }),
);

const from = (least: number, most: number) => {
  const message = `must be ${least} to ${most}`;
  return z.int().min(least, message).max(most, message);
};

const GateReplayInput = builder.inputType('GateReplayInput', {
  description: 'The recorded runs that a gate repeats, and how many of them may be worse.',
  fields: (t) => ({
    last: t.int({
      description: `How many of the newest finished runs in PRODUCTION are repeated, 1 to ${MAX_GATE_RUNS}. Defaults to ${DEFAULT_REPLAYED}.`,
      validate: { schema: from(1, MAX_GATE_RUNS) },
    }),
    feedback: t.field({
      type: FeedbackRatingEnum,
      description: 'Repeats only runs that have at least one such rating. Defaults to all runs.',
    }),
    maxWorse: t.int({
      description: `How many of the runs may be worse than the recorded ones, 0 to ${MAX_GATE_RUNS}. Defaults to 0.`,
      validate: { schema: from(0, MAX_GATE_RUNS) },
    }),
    maxDiverged: t.int({
      description: `How many of the runs may make a call that was not recorded, 0 to ${MAX_GATE_RUNS}. Defaults to ${DEFAULT_DIVERGED}.`,
      validate: { schema: from(0, MAX_GATE_RUNS) },
    }),
  }),
});

export const GateInput = builder.inputType('GateInput', {
  description:
    'What a definition must pass before it becomes active in PRODUCTION: its tests, recorded runs, or both.',
  fields: (t) => ({
    tests: t.boolean({
      description: 'Whether all tests of the definition must pass. Defaults to true.',
    }),
    replay: t.field({
      type: GateReplayInput,
      description:
        'Recorded runs that are repeated with the definition. Required if `tests` is false. Defaults to none.',
    }),
    repeat: t.int({
      description: `How often each test and run is executed, 1 to ${MAX_REPEAT}. All attempts must pass. Defaults to 1.`,
      validate: { schema: from(1, MAX_REPEAT) },
    }),
  }),
});

/** The gate of a request with its defaults. */
export function gateOf({ tests, replay, repeat }: typeof GateInput.$inferInput): Gate {
  return {
    tests: tests ?? true,
    replay: replay
      ? {
          last: replay.last ?? DEFAULT_REPLAYED,
          ...(replay.feedback && { feedback: replay.feedback }),
          maxWorse: replay.maxWorse ?? 0,
          maxDiverged: replay.maxDiverged ?? DEFAULT_DIVERGED,
        }
      : null,
    repeat: repeat ?? 1,
  };
}
