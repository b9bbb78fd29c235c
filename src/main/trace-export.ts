import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResourcesSync, envDetectorSync, Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ClientInterceptors } from '@temporalio/client';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import type { WorkerOptions } from '@temporalio/worker';
import pTimeout from 'p-timeout';
import type { Log } from '../log.ts';
import { buildVersion } from '../metrics/process-metrics.ts';

/** What takes part in traces, once they are exported. */
export type Tracing = {
  /** For every worker. */
  readonly worker: Pick<WorkerOptions, 'interceptors' | 'sinks'>;
  /** For clients that start workflows. */
  readonly client: ClientInterceptors;
  /** Exports what is left, for some seconds at most. */
  readonly close: () => Promise<void>;
};

/** A process that ends waits no longer for its collector. */
const drainMs = 3_000;
/** Between two log lines about a collector that is unavailable. */
const complaintMs = 60_000;

/**
 * Sends spans to the collector that the OTEL_* variables name, in batches; the SDK reads them itself. When the collector is slow or
 * gone, spans are dropped, and nothing waits for them.
 */
export function exportTraces(log: Log): Tracing {
  diag.setLogger(complaints(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const own = new Resource({ 'service.name': 'videogen', 'service.version': buildVersion() });
  const resource = own.merge(detectResourcesSync({ detectors: [envDetectorSync] }));
  const processor = new BatchSpanProcessor(withoutWords(new OTLPTraceExporter()));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // Without baggage: what a client puts there has no business in our upstreams' or workflows' headers.
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const starts = new OpenTelemetryWorkflowClientInterceptor();
  return {
    worker: {
      interceptors: {
        activity: [(activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity) })],
      },
      sinks: { exporter: makeWorkflowExporter(processor, resource) },
    },
    client: {
      // Only what begins something: `reconcile` describes thousands of workflows a minute.
      workflow: [
        {
          start: (input, next) => starts.start(input, next),
          startWithDetails: (input, next) => starts.startWithDetails(input, next),
          signalWithStart: (input, next) => starts.signalWithStart(input, next),
        },
      ],
    },
    close: async () => {
      await pTimeout(provider.shutdown(), { milliseconds: drainMs, fallback: () => undefined }).catch(() => undefined);
    },
  };
}

/** The messages of errors may quote clients and upstreams; a span keeps the kind of an error alone. The log has the rest. */
function withoutWords(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(wordless), done),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush !== undefined && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

function wordless(span: ReadableSpan): ReadableSpan {
  const events = span.events.map((event) => {
    const type = event.attributes?.['exception.type'];
    return { ...event, attributes: type === undefined ? {} : { 'exception.type': type } };
  });
  // The rest of a span are getters of its class.
  return Object.create(span, {
    status: { value: { code: span.status.code } },
    events: { value: events },
  }) as ReadableSpan; // what Object.create answers has no type of its own
}

function complaints(log: Log) {
  let saidAt = -Infinity;
  const say = (message: string) => {
    if (performance.now() - saidAt < complaintMs) return;
    saidAt = performance.now();
    log.warn({ detail: message.slice(0, 500) }, 'traces not exported');
  };
  const ignore = () => {};
  return { error: say, warn: say, info: ignore, debug: ignore, verbose: ignore };
}
