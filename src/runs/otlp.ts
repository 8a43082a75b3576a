import { setTimeout } from 'node:timers/promises';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import type { Log } from '../log.ts';

/** Sends traces to a collector. */
export type TraceExport = {
  /** Gets the spans. No run waits for it. */
  processor: SpanProcessor;
  /** Sends what is left, within a limit. */
  close(): Promise<void>;
};

/** Spans that wait to be sent, at most: what comes beyond them is dropped. */
const MAX_WAITING = 8_192;
const SEND_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 2_000;

/**
 * Sends traces by OTLP over HTTP as JSON, in batches every 5 seconds and as they fill up. A collector that is down
 * costs the runs nothing, and the log one line until it is there again.
 *
 * @param endpoint the collector's base, such as `http://127.0.0.1:4318`. The library itself reads how the requests
 *   are to look (`OTEL_EXPORTER_OTLP_HEADERS`, `…_COMPRESSION`, `…_CERTIFICATE`).
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
      const limit = new AbortController();
      // What could not be sent has been logged.
      const sent = processor.shutdown().catch(() => {});
      const late = setTimeout(closeLimitMs, undefined, { signal: limit.signal }).catch(() => {});
      await Promise.race([sent, late]);
      limit.abort();
    },
  };
}

/** The same exporter, which says when it begins to fail. */
function warning(exporter: SpanExporter, log: Log): SpanExporter {
  let isDown = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== ExportResultCode.SUCCESS;
        if (failed && !isDown) {
          log.warn(
            { err: result.error },
            'Traces cannot be exported. They are stored all the same.',
          );
        }
        isDown = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
