import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { withinTime } from '../../async/deadline.ts';
import type { Log } from '../../observability/log.ts';

/** Exports traces to an OpenTelemetry collector. */
export type TraceExport = {
  /** Queues finished spans without blocking a run. */
  processor: SpanProcessor;
  /** Flushes queued spans, for 2 seconds at most. */
  close(): Promise<void>;
};

/** The most queued spans. Further ones are dropped. */
const MAX_WAITING = 8_192;
const SEND_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 2_000;

/**
 * Exports traces as OTLP/HTTP JSON, in batches that leave every 5 seconds or when full. An unreachable collector does
 * not slow down runs and is logged once until it recovers.
 *
 * @param endpoint the collector's base URL, such as `http://127.0.0.1:4318`. The library itself reads
 *   `OTEL_EXPORTER_OTLP_HEADERS`, `…_COMPRESSION` and `…_CERTIFICATE`.
 */
export function createTraceExport({
  endpoint,
  log,
  closeLimitMs = CLOSE_LIMIT_MS,
}: {
  endpoint: string;
  log: Log;
  closeLimitMs?: number;
}): TraceExport {
  const url = new URL('v1/traces', endpoint.replace(/\/*$/, '/')).href;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: SEND_LIMIT_MS });
  const processor = new BatchSpanProcessor({
    exporter: warning(exporter, log),
    maxQueueSize: MAX_WAITING,
  });
  return {
    processor,
    async close() {
      // The exporter has logged its failures.
      await withinTime(closeLimitMs, processor.shutdown()).catch(() => {});
    },
  };
}

/** Wraps an exporter: logs its first failure after a success. */
function warning(exporter: SpanExporter, log: Log): SpanExporter {
  let isDown = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !isDown) {
          log.warn(
            { err: result.error },
            'Trace export failed. Traces are still stored with their runs.',
          );
        }
        isDown = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
