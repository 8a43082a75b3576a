import { z } from 'zod';
import type { RunContentsFragment } from '../../generated/operations/rest.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { TOOL_CALL_STATUS_NAMES } from '../../vocabulary/runs.ts';
import { exampleId, time } from './wire.ts';

/** A tool call of a run. */
export const toolCall = z
  .object({
    id: z.string().meta({ description: 'ID of the record.', examples: [exampleId('tcl')] }),
    call_id: z.string().meta({
      description: "The model's ID of the call. The events of the call carry the same value.",
      examples: ['call_1'],
    }),
    name: z.string().meta({
      description: 'Name of the tool, as `<group>.<capability>`.',
      examples: ['orders.lookup'],
    }),
    arguments: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({
        description:
          'Arguments from the model, without values of variables. Null if they are not stored.',
        examples: [{ order_id: 'A-1042' }],
      }),
    request: z
      .object({
        method: z.string().meta({ description: 'Method.', examples: ['GET'] }),
        url: z.string().meta({
          description: 'URL with its query.',
          examples: ['https://api.acme.example/orders/A-1042'],
        }),
        body: z
          .string()
          .nullable()
          .meta({
            description:
              'Body, at most 48 Ki characters: the end of a longer one says that it was cut. Null if there is none.',
            examples: [null],
          }),
      })
      .nullable()
      .meta({
        description:
          'The HTTP request of a capability. Null for other tools, for a call that was not sent, and if it is not stored.',
      }),
    status: z.enum(TOOL_CALL_STATUS_NAMES).meta({
      description:
        'State of the call. `unknown`: the request was sent, and its outcome is not known; it is not sent again.',
      examples: ['completed'],
    }),
    result: z
      .string()
      .nullable()
      .meta({
        description:
          'The result or the error, as the model got it: at most 64 KiB. Null while the call is in progress, and if it is not stored.',
        examples: ['{"state": "shipped"}'],
      }),
    http_status: z
      .int()
      .nullable()
      .meta({
        description: 'Status of the HTTP response. Null if there was none.',
        examples: [200],
      }),
    idempotency_key: z
      .string()
      .nullable()
      .meta({
        description:
          'The `Idempotency-Key` of the request, unless the definition sets that header. Null for a call that only reads.',
        examples: [null],
      }),
    started_at: time.meta({ description: 'Time of the call.' }),
    finished_at: time.nullable().meta({
      description: 'Time at which the call ended. Null before that, and if it is not known.',
    }),
  })
  .meta({ id: 'ToolCall', description: 'A tool call of a run.' });

/** Maps a tool call to its documented form. */
export function toToolCall(call: RunContentsFragment['toolCalls'][number]) {
  return {
    id: call.id,
    call_id: call.callId,
    name: call.name,
    arguments: call.arguments,
    request: call.request,
    status: toLowerCase(call.status),
    result: call.result,
    http_status: call.httpStatus,
    idempotency_key: call.idempotencyKey,
    started_at: call.startedAt.toISOString(),
    finished_at: call.finishedAt?.toISOString() ?? null,
  };
}
