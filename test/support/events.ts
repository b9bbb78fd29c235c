import type { Events, ServiceEvent } from '../../src/metrics/events.ts';

export const silentEvents: Events = { emit: () => {} };

/** Takes the events of one kind. */
export function eventsInto<Kind extends ServiceEvent['kind']>(
  kind: Kind,
  take: (event: Extract<ServiceEvent, { readonly kind: Kind }>) => void,
): Events {
  const isOfKind = (event: ServiceEvent): event is Extract<ServiceEvent, { readonly kind: Kind }> =>
    event.kind === kind;
  return { emit: (event) => void (isOfKind(event) && take(event)) };
}
