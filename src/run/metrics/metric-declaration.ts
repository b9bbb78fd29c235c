import type { NameLabels } from './model-and-provider-labels.ts';

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/** A metric as docs/operations/reference.md lists it. */
export type DescribedMetric = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly process: 'API' | 'worker' | 'both';
  /** The values or changes that need an operator, in Markdown; undefined for a metric that others explain or compare. */
  readonly actWhen?: string;
};

type AnyEvent = { readonly kind: string };

/** A metric that a process derives from its own events. A `state` is a gauge with the value of its last event. */
export type EventMetric = DescribedMetric & {
  readonly on: {
    readonly kind: string;
    readonly sample: (event: AnyEvent, names: NameLabels) => Sample | undefined;
  };
} & (
    | {
        readonly type: 'counter';
        /** Series that exist from the start: a counter that appears with its first event hides that event from increase(). */
        readonly zeros?: readonly Labels[];
      }
    | { readonly type: 'histogram'; readonly buckets: readonly number[] }
    | { readonly type: 'state' }
  );

/** Returns a function that makes the `on` of metrics of these events. */
export function createOnFieldMaker<Event extends AnyEvent>() {
  return <Kind extends Event['kind']>(
    kind: Kind,
    sample: (event: Extract<Event, { readonly kind: Kind }>, names: NameLabels) => Sample | undefined,
  ): EventMetric['on'] => {
    const isOfKind = (event: AnyEvent): event is Extract<Event, { readonly kind: Kind }> => event.kind === kind;
    return { kind, sample: (event, names) => (isOfKind(event) ? sample(event, names) : undefined) };
  };
}

/** Bucket bounds in seconds: from a read on an idle database to the time after which clients time out. */
export const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
