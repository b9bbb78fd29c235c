import { Gauge, type Registry } from 'prom-client';
import { scrapedGauges, type ScrapeSnapshot } from './scraped-gauges.ts';

export type SnapshotSources = { readonly [Name in keyof ScrapeSnapshot]?: () => Promise<ScrapeSnapshot[Name]> };

/** Scrapes within this time share the values. */
const sharedForMs = 5_000;

/** Exports the gauges of these sources. All gauges of a scrape share one snapshot, in which an unavailable source has its last value. */
export function exportScrapedGauges(registry: Registry, sources: SnapshotSources, sharedMs = sharedForMs): void {
  let snapshot: Partial<ScrapeSnapshot> = {};
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const read = async () => {
    const parts = Object.entries(sources).map(async ([name, readPart]) => [name, await readPart()] as const);
    const fresh = (await Promise.allSettled(parts)).filter((part) => part.status === 'fulfilled');
    snapshot = { ...snapshot, ...Object.fromEntries(fresh.map(({ value }) => value)) };
    for (const { made, samples, from } of exported) {
      if (from.some((source) => snapshot[source] === undefined)) continue;
      made.reset();
      for (const [labels, value] of samples(snapshot)) made.set(labels, value);
    }
    readAt = performance.now();
    reading = undefined;
  };
  const collect = async () => {
    if (performance.now() - readAt >= sharedMs) await (reading ??= read());
  };
  const exported = scrapedGauges
    .filter(({ from }) => from.every((source) => sources[source] !== undefined))
    .map((gauge) => {
      const { name, help, labels = [] } = gauge;
      const made = new Gauge({ name, help, labelNames: labels, registers: [registry], collect });
      return { ...gauge, made };
    });
}
