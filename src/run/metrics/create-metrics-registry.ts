import type { PartName } from '../../platform/process/process-part-type.ts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { DatabaseUsage } from '../../platform/database/database.ts';
import type { ServiceEvents } from './service-event.ts';
import { healthMetrics } from './health-metrics.ts';
import type { EventMetric, Sample } from './metric-declaration.ts';
import { createNameLabels } from './model-and-provider-labels.ts';
import { providerMetrics } from './provider-metrics.ts';
import { exportScrapedGauges } from './export-scraped-gauges.ts';
import { httpExchangeMetrics } from './http-exchange-metrics.ts';
import { taskMetrics } from './task-metrics.ts';

/** Metrics that a process derives from its own events; src/run/metrics/scraped-gauges.ts has the gauges that are read at each scrape. */
export const eventMetrics: readonly EventMetric[] = [
  ...httpExchangeMetrics,
  ...taskMetrics,
  ...providerMetrics,
  ...healthMetrics,
];

/** The metrics of a process, for Prometheus. Operators depend on their names. */
export type Metrics = {
  readonly registry: Registry;
  /** ServiceEvents of a part of the process. Names that are not in its catalogue share one label. */
  readonly eventsOf: (catalogue: () => Pick<Catalogue, 'models' | 'providers'>) => ServiceEvents;
  /** Reasons why a part of the process is not ready, for `/readyz` on METRICS_PORT. */
  readonly readiness: Map<PartName, () => readonly string[]>;
  readonly databases: Map<PartName, () => DatabaseUsage>;
};

/** Creates the registry of a process; its entry point calls this once. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const recorders = eventMetrics.map((metric) => createRecorder(registry, metric));
  const databases: Metrics['databases'] = new Map();
  exportScrapedGauges(registry, { databases: async () => [...databases].map(([part, usage]) => [part, usage()]) }, 0);
  return {
    registry,
    eventsOf: (catalogue) => {
      const names = createNameLabels(catalogue);
      return {
        emit: (event) => {
          for (const { on, record } of recorders) {
            const sample = on.kind === event.kind ? on.sample(event, names) : undefined;
            if (sample !== undefined) record(sample);
          }
        },
      };
    },
    readiness: new Map(),
    databases,
  };
}

type Recorder = Pick<EventMetric, 'on'> & { readonly record: (sample: Sample) => void };

function createRecorder(registry: Registry, metric: EventMetric): Recorder {
  const { name, help, labels = [], on } = metric;
  const config = { name, help, labelNames: labels, registers: [registry] };
  if (metric.type === 'counter') {
    const counter = new Counter(config);
    for (const zero of metric.zeros ?? []) counter.inc(zero, 0);
    return { on, record: ([sample, value]) => counter.inc(sample, value) };
  }
  if (metric.type === 'histogram') {
    const histogram = new Histogram({ ...config, buckets: [...metric.buckets] });
    return { on, record: ([sample, value]) => histogram.observe(sample, value) };
  }
  const gauge = new Gauge(config);
  return { on, record: ([sample, value]) => gauge.set(sample, value) };
}
