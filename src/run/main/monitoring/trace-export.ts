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
import type { Log } from '../../../platform/log/log.ts';
import { buildVersion } from '../../metrics/process-metrics.ts';

export type TracingInterceptors = {
  readonly worker: Pick<WorkerOptions, 'interceptors' | 'sinks'>;
  readonly client: ClientInterceptors;
  /** Exports the remaining spans, for a few seconds at most. */
  readonly close: () => Promise<void>;
};

const drainMs = 3_000;
const warnEveryMs = 60_000;

/**
 * Sends spans in batches to the collector of the OTEL_* variables, which the SDK reads. When the collector is slow or unavailable, spans
 * are dropped, and nothing waits for them.
 */
export function exportTraces(log: Log): TracingInterceptors {
  diag.setLogger(warnings(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const own = new Resource({ 'service.name': 'videogen', 'service.version': buildVersion() });
  const resource = own.merge(detectResourcesSync({ detectors: [envDetectorSync] }));
  const processor = new BatchSpanProcessor(withoutMessages(new OTLPTraceExporter()));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  // Excludes baggage, so that clients cannot add headers to our upstreams or workflows.
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
      // Only starts are traced: `reconcile` describes thousands of workflows a minute.
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

/** Error messages may quote clients and upstreams, so a span has only the type of an error. The log has the rest. */
function withoutMessages(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(withoutMessage), done),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush !== undefined && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

function withoutMessage(span: ReadableSpan): ReadableSpan {
  const events = span.events.map((event) => {
    const type = event.attributes?.['exception.type'];
    return { ...event, attributes: type === undefined ? {} : { 'exception.type': type } };
  });
  // The other fields of a span are getters of its class.
  return Object.create(span, {
    status: { value: { code: span.status.code } },
    events: { value: events },
  }) as ReadableSpan; // Object.create returns any
}

function warnings(log: Log) {
  let loggedAt = -Infinity;
  const warn = (message: string) => {
    if (performance.now() - loggedAt < warnEveryMs) return;
    loggedAt = performance.now();
    log.warn({ detail: message.slice(0, 500) }, 'traces not exported');
  };
  const ignore = () => {};
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}
