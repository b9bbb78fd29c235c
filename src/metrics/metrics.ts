import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Catalogue } from '../models/catalogue/models.ts';
import type { DatabaseUsage } from '../platform/database/database.ts';
import { counters, type EventMetric, type Events, histograms, type PartName, type Sample, states } from './counters.ts';
import { namesOf } from './names.ts';
import { readAtScrapes } from './read-at-scrapes.ts';

/** The metrics of a process, for Prometheus. Their names are part of the contract with operators: docs/operations/reference.md lists them. */
export type Metrics = {
  readonly registry: Registry;
  /** Events of a part of the process. Names that are not in its catalogue share one label. */
  readonly eventsOf: (catalogue: () => Pick<Catalogue, 'models' | 'providers'>) => Events;
  /** Reasons why a part of the process is not ready, for `/readyz` on METRICS_PORT. */
  readonly readiness: Map<PartName, () => readonly string[]>;
  /** Use of database connections by each part of the process. */
  readonly databases: Map<PartName, () => DatabaseUsage>;
};

/** One registry for each process; its entry point makes it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const recorders = createRecorders(registry);
  const databases: Metrics['databases'] = new Map();
  readAtScrapes(registry, { databases: async () => [...databases].map(([part, usage]) => [part, usage()]) }, 0);
  return {
    registry,
    eventsOf: (catalogue) => {
      const names = namesOf(catalogue);
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

function createRecorders(registry: Registry): readonly Recorder[] {
  const configOf = ({ name, help, labels = [] }: EventMetric) => ({
    name,
    help,
    labelNames: labels,
    registers: [registry],
  });
  return [
    ...counters.map((metric): Recorder => {
      const counter = new Counter(configOf(metric));
      for (const labels of metric.zeros ?? []) counter.inc(labels, 0);
      return { on: metric.on, record: ([labels, value]) => counter.inc(labels, value) };
    }),
    ...histograms.map((metric): Recorder => {
      const histogram = new Histogram({ ...configOf(metric), buckets: [...(metric.buckets ?? [])] });
      return { on: metric.on, record: ([labels, value]) => histogram.observe(labels, value) };
    }),
    ...states.map((metric): Recorder => {
      const gauge = new Gauge(configOf(metric));
      return { on: metric.on, record: ([labels, value]) => gauge.set(labels, value) };
    }),
  ];
}
