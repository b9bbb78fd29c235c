/** Takes events of these kinds, such as for metrics. Each emitter names the kinds that it emits. */
export type MetricEventSink<Event> = { readonly emit: (event: Event) => void };
