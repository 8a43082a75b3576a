import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { hrTimeToMilliseconds } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { z } from 'zod';
import { toStorable } from '../../text/characters.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../text/json.ts';
import { ATTRIBUTE } from './semconv.ts';

const storedSpan = z.object({
  /** 16 hex digits. */
  spanId: z.string(),
  /** `null` for the root span, unless it continues the caller's trace. */
  parentId: z.string().nullable(),
  name: z.string(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  durationMs: z.number(),
  status: z.enum(['unset', 'ok', 'error']),
  attributes: z.custom<JsonObject>(isJsonObject),
});

/** A span as stored with its run, in plain JSON. */
export type StoredSpan = z.infer<typeof storedSpan>;

const storedSpans = z.array(storedSpan);

/** Parses a run's `spans` column. */
export function readSpans(stored: unknown): StoredSpan[] {
  return storedSpans.parse(stored ?? []);
}

const STATUS = {
  [SpanStatusCode.UNSET]: 'unset',
  [SpanStatusCode.OK]: 'ok',
  [SpanStatusCode.ERROR]: 'error',
} as const;

/** An open span gets its duration so far. */
export function toStoredSpan(span: ReadableSpan): StoredSpan {
  const startedAt = hrTimeToMilliseconds(span.startTime);
  return {
    spanId: span.spanContext().spanId,
    parentId: span.parentSpanContext?.spanId ?? null,
    name: toStorable(span.name),
    startedAt,
    durationMs: span.ended
      ? hrTimeToMilliseconds(span.duration)
      : Math.max(0, Date.now() - startedAt),
    status: STATUS[span.status.code],
    attributes: toStoredAttributes(span.attributes),
  };
}

/** Copies a span with the status `error`. */
export function asFailed(span: StoredSpan, errorType: string): StoredSpan {
  const attributes = { ...span.attributes, [ATTRIBUTE.errorType]: errorType };
  return { ...span, status: 'error', attributes };
}

function toStoredAttributes(attributes: Attributes): JsonObject {
  const stored: JsonObject = {};
  for (const [name, value] of Object.entries(attributes)) stored[name] = toStoredValue(value);
  return stored;
}

/** OpenTelemetry truncates strings, possibly within a surrogate pair, which PostgreSQL would reject. */
function toStoredValue(value: unknown): JsonValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.map(toStoredValue) : toStorable(String(value));
}
