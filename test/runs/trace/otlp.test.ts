import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { createOfflineModel } from '../../../src/model/offline.ts';
import type { Log } from '../../../src/observability/log.ts';
import { createTraceExport } from '../../../src/runs/trace/otlp.ts';
import { createResource } from '../../../src/runs/trace/resource.ts';
import { createTracing } from '../../../src/runs/trace/trace.ts';
import { VERSION } from '../../../src/text/version.ts';
import { startApp } from '../../helpers/app.ts';
import { type Site, startSite } from '../../helpers/site.ts';

let collector: Site;
beforeAll(async () => {
  collector = await startSite();
});
afterAll(() => collector.close());
beforeEach(() => {
  collector.requests.length = 0;
  collector.handle((_request, response) => response.end('{}'));
});

type ExportedSpan = { traceId: string; spanId: string; parentSpanId?: string; name: string };
type Export = {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: ExportedSpan[] }[];
  }[];
};

const received = ({ requests } = collector): Export[] =>
  requests.map(({ body }) => JSON.parse(body));

const RUN = {
  botId: 'bot',
  deploymentId: 'dep_1',
  environment: 'PRODUCTION',
  channel: 'API',
  sessionId: 's',
  model: 'm',
  agentName: 'Test',
  provider: 'openai',
} as const;
const USAGE = { promptTokens: 1, completionTokens: 1, tokensEstimated: false };

/**
 * Stops the timers: neither the 5 seconds after which a batch leaves, also in the middle of a run, nor the 2 seconds of a
 * shutdown pass.
 */
const stopTimers = () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
};

/** A trace export, and the messages that it logs. By default, its shutdown may take longer than any test needs. */
const exporting = (endpoint = collector.origin, closeLimitMs = 240_000) => {
  const lines: string[] = [];
  const write = (_fields: object, message: string) => void lines.push(message);
  const log: Log = { warn: write, error: write };
  const traceExport = createTraceExport({ endpoint, log, closeLimitMs });
  const tracing = createTracing({ exporter: traceExport.processor, resource: createResource() });
  const trace = (traceparent?: string) => tracing.begin(RUN, traceparent).finish(USAGE);
  const flush = () => traceExport.processor.forceFlush().catch(() => {});
  return { ...traceExport, lines, trace, flush };
};

describe('a trace collector', () => {
  test('receives the same spans as are stored with the run, at the latest when the process stops', async () => {
    const app = await startApp({ otlpEndpoint: `${collector.origin}/otlp/` });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    stopTimers();
    const response = await tenant.chat(bot, { message: 'message-words' });
    const { run_id: id } = (await response.json()) as { run_id: string };
    const query = `{ run(id: "${id}") { trace { traceId spans { spanId parentId name } } } }`;
    const { data } = await tenant.graphql(query);
    await app.close();
    expect(collector.requests).toMatchObject([
      { method: 'POST', url: '/otlp/v1/traces', headers: { 'content-type': 'application/json' } },
    ]);
    const [resource] = received()[0]?.resourceSpans ?? [];
    expect(resource?.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'parley' },
    });
    const spans = resource?.scopeSpans.flatMap((scope) => scope.spans) ?? [];
    const { traceId, spans: stored } = data.run.trace;
    const exported = spans.map(({ spanId, parentSpanId, name }) => ({
      spanId,
      parentId: parentSpanId ?? null,
      name,
    }));
    expect(spans.every((span) => span.traceId === traceId)).toBe(true);
    expect(exported).toHaveLength(6);
    expect(exported).toEqual(expect.arrayContaining(stored));
    expect(collector.requests[0]?.body).not.toContain('words');
  });

  test('receives the service’s name, version, instance and environment, and the offline provider’s name', async () => {
    // Another test's export may still send to the collector that all share.
    const own = await startSite();
    onTestFinished(() => own.close());
    own.handle((_request, response) => response.end('{}'));
    const app = await startApp({
      otlpEndpoint: own.origin,
      model: createOfflineModel({ pace: 0 }),
      resourceAttributes: { 'service.name': 'bots', 'deployment.environment.name': 'eu' },
    });
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    stopTimers();
    await tenant.chat(bot, { message: 'Hi' });
    await app.close();
    const [resource] = received(own)[0]?.resourceSpans ?? [];
    const attributes = resource?.resource.attributes.map(({ key, value }) => [
      key,
      value.stringValue,
    ]);
    expect(Object.fromEntries(attributes ?? [])).toEqual({
      'service.name': 'bots',
      'service.version': VERSION,
      'service.instance.id': expect.stringMatching(/^[\da-f-]{36}$/),
      'deployment.environment.name': 'eu',
    });
    const spans = JSON.stringify(resource?.scopeSpans);
    expect(
      spans.match(/"gen_ai.provider.name","value":{"stringValue":"parley.offline"}/g),
    ).toHaveLength(2);
  });

  test('receives no spans of traces that the caller does not sample', async () => {
    const { trace, close } = exporting();
    expect(trace(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`)).toHaveLength(1);
    trace(`00-${'c'.repeat(32)}-${'b'.repeat(16)}-01`);
    await close();
    expect(JSON.stringify(received())).toContain('c'.repeat(32));
    expect(JSON.stringify(received())).not.toContain('a'.repeat(32));
  });

  test('that refuses spans is logged once until it accepts them again', async () => {
    const { trace, flush, lines, close } = exporting();
    const refuse = () => collector.handle((_request, response) => response.writeHead(400).end());
    refuse();
    for (const _ of [1, 2, 3]) {
      trace();
      await flush();
    }
    expect(collector.requests).toHaveLength(3);
    expect(lines).toEqual(['Trace export failed. Traces are still stored with their runs.']);
    collector.handle((_request, response) => response.end('{}'));
    trace();
    await flush();
    refuse();
    trace();
    await close();
    expect(lines).toHaveLength(2);
  });

  test('that does not answer delays neither runs nor shutdown', async () => {
    let hasClosed = false;
    collector.handle((_request, response) => {
      response.once('close', () => {
        hasClosed = true;
      });
    });
    const { trace, close } = exporting(collector.origin, 20);
    expect(trace()).toHaveLength(1);
    await close();
    expect(hasClosed).toBe(false);
    const spare = await startSite();
    await spare.close();
    const absent = exporting(spare.origin, 20);
    expect(absent.trace()).toHaveLength(1);
    await absent.close();
  });
});
