import type { ServiceEvents, ServiceEvent } from '../../../src/run/metrics/service-event.ts';

export const silentEvents: ServiceEvents = { emit: () => {} };

/** Takes the events of one kind. */
export function eventsInto<Kind extends ServiceEvent['kind']>(
  kind: Kind,
  take: (event: Extract<ServiceEvent, { readonly kind: Kind }>) => void,
): ServiceEvents {
  const isOfKind = (event: ServiceEvent): event is Extract<ServiceEvent, { readonly kind: Kind }> =>
    event.kind === kind;
  return { emit: (event) => void (isOfKind(event) && take(event)) };
}

/** Records the events of these kinds in their order. */
export function recordEvents<Kind extends ServiceEvent['kind']>(...kinds: readonly Kind[]) {
  type Event = Extract<ServiceEvent, { readonly kind: Kind }>;
  const seen: Event[] = [];
  const isOfKinds = (event: ServiceEvent): event is Event => kinds.some((kind) => kind === event.kind);
  return { seen, emit: (event: ServiceEvent): void => void (isOfKinds(event) && seen.push(event)) };
}
