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
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  createAlwaysRecordSampler,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { NewRun, RunOutcome } from './runs.ts';
import { ATTRIBUTE, OPERATION, OWN_ATTRIBUTE, PROVIDER } from './semconv.ts';
import { asFailed, type StoredSpan, toStoredSpan } from './spans.ts';

/** What a span says of what it stands for: names and counts, never what was said or sent, and never a secret. */
export type SpanAttributes = Record<string, string | number | boolean | string[] | undefined>;

/** A part of a run that takes time. */
export type Span = {
  /** Begins a part of it. `remote`: a call of another server. */
  begin(name: string, attributes?: SpanAttributes, kind?: 'remote'): Span;
  /** Does a part of it; where that fails, its span ends with the run, for the run's reason. */
  step<Result>(name: string, work: (span: Span) => Result | Promise<Result>): Promise<Result>;
  set(attributes: SpanAttributes): void;
  /** @param errorType why it failed, in a word of our own. */
  end(errorType?: string): void;
};

/** What happened in a run, from its beginning on. */
export type Trace = Omit<Span, 'end'> & {
  /** 32 hex digits. */
  id: string;
  /** All spans so far, as they are to be read if they are the last that is known: what is open was interrupted. */
  interrupted(): StoredSpan[];
  /**
   * Ends all that is still open.
   *
   * @param end its `errorType` says why the run did not come to its end. Where that is known only the second
   *   time, because the run could not be stored, it is in what is answered then; what has been exported stays.
   * @returns all spans in the order in which they began, the run's own first.
   */
  finish(end: RunUsage & { errorType?: string | undefined }): StoredSpan[];
};

/** What a trace says of the run that it is of. */
export type TracedRun = Pick<
  NewRun,
  'botId' | 'deploymentId' | 'environment' | 'channel' | 'sessionId' | 'model'
> & { agentName: string };

type RunUsage = Pick<RunOutcome, 'promptTokens' | 'completionTokens' | 'tokensEstimated'>;

/** Traces of runs, by OpenTelemetry. */
export type Tracing = {
  /** @param traceparent the caller's, as it came: its trace goes on in this one. What is not valid is ignored. */
  begin(run: TracedRun, traceparent: unknown): Trace;
};

/** What others choose may be long. */
const MAX_ATTRIBUTE_LENGTH = 256;

/**
 * Every trace is recorded whole, because it is stored with its run. Where the caller's `traceparent` says that a
 * trace is not sampled, it is not exported.
 *
 * No `traceparent` goes out to models' servers and tools: they are strangers, whom it would tell which of their
 * calls belong together, and the ids that our own callers use.
 *
 * @param exporter gets every span that has ended, besides.
 */
export function createTracing({ exporter }: { exporter: SpanProcessor | undefined }): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'parley' }),
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
        interrupted: () =>
          spans.map((span) => {
            const stored = toStoredSpan(span);
            return span.ended ? stored : asFailed(stored, 'interrupted');
          }),
        finish({ promptTokens, completionTokens, tokensEstimated, errorType }) {
          whole.set({
            [ATTRIBUTE.inputTokens]: promptTokens,
            [ATTRIBUTE.outputTokens]: completionTokens,
            [OWN_ATTRIBUTE.tokensEstimated]: tokensEstimated || undefined,
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
    [ATTRIBUTE.provider]: PROVIDER,
    [ATTRIBUTE.agentId]: run.botId,
    [ATTRIBUTE.agentName]: agentName,
    [ATTRIBUTE.agentVersion]: run.deploymentId ?? undefined,
    [ATTRIBUTE.conversationId]: run.sessionId ?? undefined,
    [ATTRIBUTE.requestModel]: run.model ?? undefined,
    [OWN_ATTRIBUTE.environment]: run.environment.toLowerCase(),
    [OWN_ATTRIBUTE.channel]: run.channel.toLowerCase(),
  };
}

/** The most names that one attribute of a span lists. */
export const MAX_LISTED = 20;

/** The first 20 paths that a template was to place and could not, dotted; nothing where there was everything. */
export function missingValues(paths: string[]): SpanAttributes {
  return paths.length > 0 ? { [OWN_ATTRIBUTE.templateMissing]: paths.slice(0, MAX_LISTED) } : {};
}

type RecordedSpan = OpenTelemetrySpan & ReadableSpan;

/** Where a trace's context keeps the trace's spans. */
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

/** The id of the trace that a caller's `traceparent` goes on with, as it came; none of one that is not valid. */
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
