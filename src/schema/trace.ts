import { builder } from './builder.ts';

const SpanStatus = builder.enumType('SpanStatus', {
  description: 'Status of a span, following OpenTelemetry.',
  values: {
    UNSET: { value: 'unset', description: 'The operation succeeded, or has not finished.' },
    OK: { value: 'ok', description: 'The operation is marked as successful.' },
    ERROR: { value: 'error', description: 'The operation failed.' },
  } as const,
});

const Span = builder.simpleObject('Span', {
  description: 'One operation within a run, following OpenTelemetry.',
  fields: (t) => ({
    spanId: t.string({ description: 'Span ID, 16 hexadecimal digits.' }),
    parentId: t.string({
      nullable: true,
      description:
        'ID of the parent span. For the root span, the span ID from the request’s `traceparent` header, or null without one.',
    }),
    name: t.string({ description: 'Name of the operation, following OpenTelemetry conventions.' }),
    startedAt: t.field({ type: 'DateTime', description: 'Time at which the span started.' }),
    durationMs: t.float({ description: 'Duration in milliseconds, with fractions.' }),
    status: t.field({ type: SpanStatus, description: 'Status of the span.' }),
    attributes: t.field({
      type: 'JSON',
      description:
        'Attributes named by OpenTelemetry’s GenAI conventions, or `parley.*`. They hold names and counts, never message text.',
    }),
  }),
});

export const Trace = builder.simpleObject('Trace', {
  description: 'Trace of a run.',
  fields: (t) => ({
    traceId: t.string({
      description:
        'Trace ID, 32 hexadecimal digits, from the request’s `traceparent` header if it has one. All zeros for a run without a trace.',
    }),
    spans: t.field({
      type: [Span],
      description:
        'Spans ordered by start time, root span first. Empty until the run finishes; an interrupted run has the spans stored before the interruption.',
    }),
  }),
});
