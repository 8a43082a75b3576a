import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { hrTimeToMilliseconds } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { toStorable } from '../text.ts';
import { ATTRIBUTE } from './semconv.ts';

const storedSpan = z.object({
  /** 16 hex digits. */
  spanId: z.string(),
  /** None of the first, unless the caller's own trace goes on in it. */
  parentId: z.string().nullable(),
  name: z.string(),
  /** Milliseconds since 1970. */
  startedAt: z.number(),
  durationMs: z.number(),
  status: z.enum(['unset', 'ok', 'error']),
  attributes: z.custom<JsonObject>(isJsonObject),
});

/** A span as it is stored with its run. Plain JSON. */
export type StoredSpan = z.infer<typeof storedSpan>;

const storedSpans = z.array(storedSpan);

/** Reads the spans of a stored run. */
export function readSpans(stored: unknown): StoredSpan[] {
  return storedSpans.parse(stored ?? []);
}

const STATUS = {
  [SpanStatusCode.UNSET]: 'unset',
  [SpanStatusCode.OK]: 'ok',
  [SpanStatusCode.ERROR]: 'error',
} as const;

/** The duration of one that is open is that so far. */
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

/** The same span as one that failed. */
export function asFailed(span: StoredSpan, errorType: string): StoredSpan {
  const attributes = { ...span.attributes, [ATTRIBUTE.errorType]: errorType };
  return { ...span, status: 'error', attributes };
}

function toStoredAttributes(attributes: Attributes): JsonObject {
  const stored: JsonObject = {};
  for (const [name, value] of Object.entries(attributes)) stored[name] = toStoredValue(value);
  return stored;
}

/** A text that OpenTelemetry has cut may end in half a character. */
function toStoredValue(value: unknown): JsonValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) ? value.map(toStoredValue) : toStorable(String(value));
}
