import {
  type Context,
  createContextKey,
  type Span as OpenTelemetrySpan,
  trace as openTelemetry,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  createAlwaysRecordSampler,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Model } from '../../model/model.ts';
import type { NewRun } from '../life/begin.ts';
import type { RunOutcome } from '../life/runs.ts';
import { ATTRIBUTE, OPERATION, OWN_ATTRIBUTE } from '../record/semconv.ts';
import { asFailed, type StoredSpan, toStoredSpan } from '../record/spans.ts';

/** Attributes of a span: names and counts. They never contain message text, request bodies or secrets. */
export type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

/** A timed step of a run. */
export type Span = {
  /** Starts a child span. `remote`: a call to another server. */
  begin(name: string, attributes?: SpanAttributes, kind?: 'remote'): Span;
  /** Runs work in a child span. If the work throws, the span stays open and ends with the run, with the run's error. */
  step<Result>(name: string, work: (span: Span) => Result | Promise<Result>): Promise<Result>;
  set(attributes: SpanAttributes): void;
  /** @param errorType a low-cardinality error class of Parley's own; `undefined` on success. */
  end(errorType?: string): void;
};

/** The trace of a run. Its own methods apply to the root span. */
export type Trace = Omit<Span, 'end'> & {
  /** 32 hex digits. */
  id: string;
  /** Grows whenever a span starts or ends. */
  changes(): number;
  /** All spans so far. Open spans are marked as interrupted, for the case that the process dies. */
  interrupted(): StoredSpan[];
  /**
   * Ends all open spans.
   *
   * @param end `errorType`: why the run failed or was cancelled. A second call with another `errorType`, after the
   *   outcome could not be stored, changes the returned root span but not spans that are already exported.
   * @returns all spans in the order of their start, the root span first.
   */
  finish(end: RunUsage & { errorType?: string | undefined }): StoredSpan[];
};

/** The fields of a run that its root span has as attributes. */
export type TracedRun = Pick<
  NewRun,
  'botId' | 'deploymentId' | 'environment' | 'channel' | 'entrance' | 'sessionId' | 'model'
> & {
  agentName: string;
  provider: Model['provider'];
  /** The name of the client, see `readClientName`. */
  client?: string | null | undefined;
};

type RunUsage = Pick<
  RunOutcome,
  'promptTokens' | 'completionTokens' | 'tokensEstimated' | 'cachedTokens' | 'reasoningTokens'
>;

/** Traces runs with OpenTelemetry. */
export type Tracing = {
  /** @param traceparent the request's unchecked header. The trace continues it if it is valid. */
  begin(run: TracedRun, traceparent: unknown): Trace;
};

/** In characters. Clients and model servers choose some of the values. */
const MAX_ATTRIBUTE_LENGTH = 256;

/**
 * Records every trace completely, because it is stored with its run. A trace is not exported if the caller's
 * `traceparent` marks it as not sampled.
 *
 * Sends no `traceparent` to model servers and tools: these third parties could correlate calls and learn the callers'
 * trace ids.
 *
 * @param exporter also receives every finished span.
 * @param resource describes this process to the collector.
 */
export function createTracing({
  exporter,
  resource,
}: {
  exporter: SpanProcessor | undefined;
  resource: Resource;
}): Tracing {
  const provider = new TracerProvider({
    resource,
    sampler: createAlwaysRecordSampler(new ParentBasedSampler({ root: new AlwaysOnSampler() })),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: exporter ? [recorder, exporter] : [recorder],
  });
  const tracer = provider.getTracer('parley');

  const begin = (
    context: Context,
    name: string,
    attributes: SpanAttributes = {},
    kind?: 'remote',
  ) => {
    const options = { attributes, kind: kind ? SpanKind.CLIENT : SpanKind.INTERNAL };
    return wrap(tracer.startSpan(name, options, context), context);
  };

  const wrap = (span: OpenTelemetrySpan, outer: Context): Span => {
    const context = openTelemetry.setSpan(outer, span);
    return {
      begin: (...part) => begin(context, ...part),
      async step(name, work) {
        const part = begin(context, name);
        const result = await work(part);
        part.end();
        return result;
      },
      set: (attributes) => span.setAttributes(attributes),
      end: (errorType) => endSpan(span, errorType),
    };
  };

  return {
    begin(run, traceparent) {
      const spans: RecordedSpan[] = [];
      const context = callersContext(traceparent).setValue(SPANS, spans);
      const name = `${OPERATION.invokeAgent} ${run.agentName}`;
      const { end: _, ...whole } = begin(context, name, attributesOf(run));
      return {
        ...whole,
        id: spans[0]?.spanContext().traceId ?? '',
        changes: () => spans.reduce((sum, { ended }) => sum + (ended ? 2 : 1), 0),
        interrupted: () =>
          spans.map((span) => {
            const stored = toStoredSpan(span);
            return span.ended ? stored : asFailed(stored, 'interrupted');
          }),
        finish({ errorType, ...usage }) {
          whole.set({
            [ATTRIBUTE.inputTokens]: usage.promptTokens,
            [ATTRIBUTE.outputTokens]: usage.completionTokens,
            [ATTRIBUTE.cachedTokens]: usage.cachedTokens,
            [ATTRIBUTE.reasoningTokens]: usage.reasoningTokens,
            [OWN_ATTRIBUTE.tokensEstimated]: usage.tokensEstimated || undefined,
          });
          for (const span of spans) if (!span.ended) endSpan(span, errorType);
          const [first, ...parts] = spans.map(toStoredSpan);
          if (first === undefined) return [];
          return [errorType === undefined ? first : asFailed(first, errorType), ...parts];
        },
      };
    },
  };
}

function attributesOf({ agentName, ...run }: TracedRun): SpanAttributes {
  return {
    [ATTRIBUTE.operation]: OPERATION.invokeAgent,
    [ATTRIBUTE.provider]: run.provider,
    [ATTRIBUTE.agentId]: run.botId,
    [ATTRIBUTE.agentName]: agentName,
    [ATTRIBUTE.agentVersion]: run.deploymentId ?? undefined,
    [ATTRIBUTE.conversationId]: run.sessionId ?? undefined,
    [ATTRIBUTE.requestModel]: run.model ?? undefined,
    [OWN_ATTRIBUTE.environment]: run.environment.toLowerCase(),
    [OWN_ATTRIBUTE.channel]: run.channel.toLowerCase(),
    [OWN_ATTRIBUTE.entrance]: run.entrance?.toLowerCase(),
    [OWN_ATTRIBUTE.client]: run.client ?? undefined,
  };
}

/** The most names that one attribute of a span lists. */
export const MAX_LISTED = 20;

/** The first 20 dotted paths that a template could not resolve, as an attribute; no attribute if it resolved all. */
export function missingValues(paths: string[]): SpanAttributes {
  return paths.length > 0 ? { [OWN_ATTRIBUTE.templateMissing]: paths.slice(0, MAX_LISTED) } : {};
}

type RecordedSpan = OpenTelemetrySpan & ReadableSpan;

/** The context key of the list of a trace's spans. */
const SPANS = createContextKey('the spans of a run');

const recorder: SpanProcessor = {
  onStart(span, context) {
    const spans = context.getValue(SPANS);
    if (Array.isArray(spans)) spans.push(span);
  },
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

/** The trace id of an unchecked `traceparent` header; `undefined` if the header is not valid. */
export function traceIdOf(traceparent: unknown): string | undefined {
  return readTraceParent(traceparent)?.traceId;
}

/** Source: W3C Trace Context, section 3.2. */
function readTraceParent(traceparent: unknown): SpanContext | null {
  return typeof traceparent === 'string' ? parseTraceParent(traceparent) : null;
}

function callersContext(traceparent: unknown): Context {
  const parent = readTraceParent(traceparent);
  if (parent === null) return ROOT_CONTEXT;
  return openTelemetry.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function endSpan(span: OpenTelemetrySpan, errorType: string | undefined): void {
  if (errorType !== undefined) {
    span.setAttribute(ATTRIBUTE.errorType, errorType);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
