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
