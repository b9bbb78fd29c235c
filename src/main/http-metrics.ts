import { Counter, Histogram } from 'prom-client';
import type { HttpDeps } from '../http/http-deps.ts';
import type { Metrics } from '../metrics.ts';

/** From a read that meets a quiet database to the time after which clients give up. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts the requests of the API. */
export function countRequests({ registry }: Metrics): NonNullable<HttpDeps['onRequest']> {
  const registers = [registry];
  const requests = new Counter({
    name: 'videogen_http_requests_total',
    help: 'Requests that are over, by route pattern; status aborted: the client went away before its answer',
    labelNames: ['route', 'method', 'status'] as const,
    registers,
  });
  const durations = new Histogram({
    name: 'videogen_http_request_duration_seconds',
    help: 'Time of requests, but for those that were held because their client asked for that',
    labelNames: ['route', 'method'] as const,
    buckets,
    registers,
  });
  return ({ route, method, status, durationSeconds }) => {
    requests.inc({ route, method, status });
    if (durationSeconds !== undefined) durations.observe({ route, method }, durationSeconds);
  };
}
