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

/** A time of day with its time zone, in the extended form of ISO 8601; of the zone the basic form is as common. */
const zonedTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/);

const NO_MOMENT =
  'must be a day, or a moment of ISO 8601 with its time zone, such as 2026-11-21T10:00:00Z or 2026-11-21T11:00%2B01:00';

const moment = z
  .union([z.templateLiteral([z.iso.date(), 'T', zonedTime]), z.iso.date(NO_MOMENT)], NO_MOMENT)
  // Of a time zone, dates know the extended form alone.
  .transform((text) => new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')))
  .optional();

const MOMENT =
  'In ISO 8601 with its time zone, where a + is written `%2B`; a day by itself is its beginning in UTC.';

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
    description: `Only runs that were made at this moment or after it. ${MOMENT}`,
    examples: ['2026-11-20T12:00:00Z'],
  }),
  to: moment.meta({
    description: `Only runs that were made before this moment. ${MOMENT}`,
    examples: ['2026-11-20T13:00:00Z'],
  }),
});
