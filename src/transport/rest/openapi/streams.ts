import type { ZodOpenApiMediaTypeObject } from 'zod-openapi';
import type { Frame } from '../frames.ts';
import { exampleId } from '../wire.ts';

const run_id = exampleId('run');
const done = { event: 'done', run_id, latency_ms: 612 } as const;
const text = (...deltas: string[]): Frame[] => deltas.map((delta) => ({ delta }));

const error: Frame = {
  event: 'error',
  delta: '',
  error: {
    code: 'model_error',
    message: "The model's server returned an error or could not be reached.",
    request_id: exampleId('req'),
  },
};

const call = { delta: '', name: 'memory.save', call_id: 'call_1' } as const;

/** A stream that is a whole response. */
type StreamForm = 'reply' | 'events';

const WRITTEN: Record<StreamForm, string> = {
  reply:
    'Server-Sent Events. Each frame is a line `data: <JSON>` and an empty line. Text frames precede one done frame, ' +
    'which has a `status` if the reply is incomplete. After 15 seconds without a frame, a comment line follows.',
  events:
    'Server-Sent Events. Each frame is a line `id: <number>`, a line `data: <JSON>` and an empty line. An error frame ' +
    'has no `id` line. To resume, send the last number as `Last-Event-ID`. The last frame is a done frame. If the ' +
    'connection closes without one, request the events again.',
};

const SCHEMA: Record<StreamForm, string> = { reply: 'ReplyFrame', events: 'EventFrame' };

/**
 * The response content of a stream. OpenAPI 3.1 has no type for event streams, so it is a string whose JSON Schema
 * `contentSchema` describes the `data` of its frames.
 */
export function streamContent(form: StreamForm): ZodOpenApiMediaTypeObject {
  const write = form === 'events' ? numbered : plain;
  return {
    schema: {
      type: 'string',
      description: WRITTEN[form],
      contentMediaType: 'text/event-stream',
      contentSchema: { type: 'array', items: { $ref: `#/components/schemas/${SCHEMA[form]}` } },
    },
    examples:
      form === 'reply'
        ? {
            whole: { value: write([...text('Hello', '!'), done]) },
            failed: { value: write([...text('Hel'), error, { ...done, status: 'failed' }]) },
          }
        : {
            run: {
              value: write([
                { event: 'run_started', delta: '', run_id, session_id: 'user-1' },
                { event: 'tool_started', ...call },
                { event: 'tool_finished', ...call, failed: false, duration_ms: 3 },
                ...text('Hello', '!'),
                done,
              ]),
            },
          },
  };
}

function plain(frames: Frame[]): string {
  return frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
}

function numbered(frames: Frame[]): string {
  return frames
    .map((frame, index) => `id: ${index + 1}\ndata: ${JSON.stringify(frame)}\n\n`)
    .join('');
}
