import { z } from 'zod';
import { utcDay } from '../../../input.ts';
import { MAX_INT } from '../../../storage/int.ts';
import { botParams, conversation, environment, exampleId, listQuery, oneOf } from '../wire.ts';

export const runParams = botParams.extend({
  run_id: z.string().meta({ description: "The run's id.", examples: [exampleId('run')] }),
});

/** A `seq`, in digits: any number, of which the largest there are lie behind every event. */
const position = z
  .string()
  .regex(/^\d+$/, 'must be a whole number')
  .transform((digits) => Math.min(Number(digits), MAX_INT))
  .optional();

export const eventsQuery = z.object({
  after: position.meta({
    description: 'The number of the last event that you have: only those behind it are sent.',
    param: { example: '12' },
  }),
});

export const eventsHeaders = z.object({
  'last-event-id': position.meta({
    description:
      'The same, as clients of Server-Sent Events send it by themselves; it wins over `after`.',
  }),
});

const moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    'must be a moment of ISO 8601 with its time zone, such as 2026-11-21T10:00:00Z',
  )
  .transform((text) => new Date(text))
  .optional();

export const runsQuery = listQuery({
  user: conversation.optional().meta({
    description: "Only runs of this user: the session's id.",
    examples: ['user-1'],
  }),
  status: oneOf('queued', 'running', 'completed', 'failed', 'cancelled').meta({
    description: 'Only runs that stand so.',
  }),
  channel: oneOf('api', 'web', 'telegram').meta({
    description: 'Only runs that came from there.',
  }),
  kind: oneOf('chat', 'execute').meta({
    description: 'Only messages of conversations, or only prompts by themselves.',
  }),
  environment: environment.meta({ description: 'Only runs of this environment.' }),
  date: utcDay.optional().meta({
    description: 'Only runs that were made on this UTC day.',
    examples: ['2026-11-20'],
  }),
  from: moment.meta({
    description: 'Only runs that were made at this moment or after it, in ISO 8601.',
    examples: ['2026-11-20T12:00:00Z'],
  }),
  to: moment.meta({
    description: 'Only runs that were made before this moment, in ISO 8601.',
    examples: ['2026-11-20T13:00:00Z'],
  }),
});
