import { leastCount, searchText, sessionId, text, utcDay } from '../text/input.ts';
import { builder } from './builder.ts';
import { ErrorCodeEnum } from './error-code.ts';
import {
  ChannelEnum,
  EntranceEnum,
  EnvironmentEnum,
  RunKindEnum,
  RunStatusEnum,
} from './shared.ts';

type Length = [number, { message: string }];
const NOT_EMPTY: Length = [1, { message: 'must not be empty' }];
const NOT_MANY: Length = [20, { message: 'must be at most 20' }];

export const FeedbackRatingEnum = builder.enumType('FeedbackRating', {
  description: 'Rating of a run.',
  values: {
    UP: { description: 'The reply was good.' },
    DOWN: { description: 'The reply was bad.' },
  } as const,
});

export const RunFilterInput = builder.inputType('RunFilter', {
  description: 'Conditions on runs. A run must match all of them.',
  fields: (t) => ({
    user: t.string({
      description: 'Returns only runs of this end user, identified by the session ID.',
      validate: { schema: sessionId },
    }),
    status: t.field({
      type: [RunStatusEnum],
      description: 'Returns only runs with one of these statuses.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    channel: t.field({
      type: [ChannelEnum],
      description: 'Returns only runs from one of these channels.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    entrance: t.field({
      type: [EntranceEnum],
      description:
        'Returns only runs that clients requested through one of these interfaces. Runs with an unknown entrance do not match.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    kind: t.field({
      type: RunKindEnum,
      description: 'Returns only runs of this kind. Defaults to all kinds but DRAFT.',
    }),
    date: t.string({
      description: 'Returns only runs created on this UTC day, as YYYY-MM-DD.',
      validate: { schema: utcDay },
    }),
    from: t.field({
      type: 'DateTime',
      description: 'Returns only runs created at or after this time.',
    }),
    to: t.field({ type: 'DateTime', description: 'Returns only runs created before this time.' }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Returns only runs in this environment.',
    }),
    deploymentId: t.id({
      description: 'Returns only runs of this deployment.',
      validate: { schema: text },
    }),
    model: t.string({
      description: 'Returns only runs that use the model of this name.',
      validate: { schema: text },
    }),
    errorCode: t.field({
      type: [ErrorCodeEnum],
      description: 'Returns only runs that failed with one of these error codes.',
      validate: { minLength: NOT_EMPTY, maxLength: NOT_MANY },
    }),
    minLatencyMs: t.int({
      description: 'Returns only finished runs that took at least this long, in milliseconds.',
      validate: { schema: leastCount },
    }),
    minTokens: t.int({
      description: 'Returns only runs with at least this many prompt and completion tokens.',
      validate: { schema: leastCount },
    }),
    feedback: t.field({
      type: FeedbackRatingEnum,
      description: 'Returns only runs that have at least one such rating.',
    }),
    text: t.string({
      description:
        'Returns only finished runs whose input or response contains these words, among the first 8,192 characters of each. `"a phrase"` finds adjacent words, `-word` excludes runs, and `or` finds either side. Upper and lower case are the same. Searches one bot at a time. A page of a search may hold fewer entries than requested, even none: it ends after a bounded amount of work, `hasNextPage` (backwards `hasPreviousPage`) is true then, and the next page continues the search at `endCursor` (`startCursor`). Error: SEARCH_TOO_BROAD, if statistics, or the first step of a page, take longer than 2 seconds.',
      validate: { schema: searchText },
    }),
  }),
});

export const FILTER = 'Conditions that each run must match. Defaults to all runs.';
