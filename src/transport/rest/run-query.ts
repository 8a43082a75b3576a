import { z } from 'zod';
import { MAX_INT } from '../../storage/int.ts';
import { utcDay } from '../../text/input.ts';
import { CHANNEL_NAMES } from '../../vocabulary/channels.ts';
import { ENTRANCE_NAMES } from '../../vocabulary/entrances.ts';
import { LISTED_KIND_NAMES, RUN_STATUS_NAMES } from '../../vocabulary/runs.ts';
import {
  botParams,
  conversation,
  environment,
  exampleId,
  listQuery,
  oneOf,
  queryOf,
} from './wire.ts';

export const runParams = botParams.extend({
  run_id: z.string().meta({ description: 'Opaque ID of the run.', examples: [exampleId('run')] }),
});

/** A `seq`. Larger numbers are clamped, because no event has one. */
const position = z
  .string()
  .regex(/^\d+$/, 'must be a whole number')
  .transform((digits) => Math.min(Number(digits), MAX_INT))
  .optional();

export const eventsQuery = queryOf({
  after: position.meta({
    description:
      'Number of the last event received. Only later events are sent. A number above 2147483647 counts as that one.',
    param: { example: '12' },
  }),
});

export const eventsHeaders = z.object({
  'last-event-id': position.meta({
    description:
      'Number of the last event received, as Server-Sent Events clients send it on reconnection. Takes precedence over ' +
      '`after`. A number above 2147483647 counts as that one.',
  }),
});

/** A time with time zone in the ISO 8601 extended format. The zone may use the basic format, which is as common. */
const zonedTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/);

const NO_MOMENT =
  'must be an ISO 8601 date, or a date and time with a time zone, such as 2026-11-21T10:00:00Z or 2026-11-21T11:00%2B01:00';

const zonedMoment = z
  .union([z.templateLiteral([z.iso.date(), 'T', zonedTime]), z.iso.date(NO_MOMENT)], NO_MOMENT)
  // `Date` parses only the extended format of a time zone.
  .transform((text) => new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')))
  .optional();

const MOMENT =
  'ISO 8601 with a time zone; encode + as `%2B`. A date without a time means midnight UTC.';

export const runsQuery = listQuery({
  user: conversation.optional().meta({
    description:
      'Returns only runs of this user, identified by the session ID of 1 to 256 visible characters.',
    examples: ['user-1'],
  }),
  status: oneOf(...RUN_STATUS_NAMES).meta({
    description: 'Returns only runs with this status.',
  }),
  channel: oneOf(...CHANNEL_NAMES).meta({
    description: 'Returns only runs from this channel.',
  }),
  entrance: oneOf(...ENTRANCE_NAMES).meta({
    description:
      'Returns only runs that clients requested through this interface. Runs with an unknown entrance do not match.',
  }),
  kind: oneOf(...LISTED_KIND_NAMES).meta({
    description: 'Returns only runs of this kind.',
  }),
  environment: environment.meta({ description: 'Returns only runs in this environment.' }),
  date: utcDay.optional().meta({
    description: 'Returns only runs created on this UTC day.',
    examples: ['2026-11-20'],
  }),
  from: zonedMoment.meta({
    description: `Returns only runs created at or after this time. ${MOMENT}`,
    examples: ['2026-11-20T12:00:00Z'],
  }),
  to: zonedMoment.meta({
    description: `Returns only runs created before this time. ${MOMENT}`,
    examples: ['2026-11-20T13:00:00Z'],
  }),
});
