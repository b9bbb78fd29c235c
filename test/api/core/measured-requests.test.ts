import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ServiceEvent } from '../../../src/run/metrics/service-event.ts';
import { eventsInto } from '../../support/service/metric-event-sinks.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { assertMeasured } from '../../support/assert-since.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: HttpService;
let key: string;
const seen: FinishedRequest[] = [];

type FinishedRequest = Extract<ServiceEvent, { readonly kind: 'request_finished' }>;

before(async () => {
  service = await startHttpService({ events: eventsInto('request_finished', (request) => seen.push(request)) });
  ({ key } = await service.newAccount(100_000));
});
after(() => service.close());

/** What was reported of the request that `send` makes. */
async function reported(send: () => Promise<unknown>): Promise<FinishedRequest> {
  const from = seen.length;
  await send();
  return waitFor('the report', () => seen[from]);
}

for (const [method, path, route, status] of [
  ['GET', '/healthz', '/healthz', '200'],
  ['HEAD', '/healthz', '/healthz', '200'],
  ['GET', '/api/v1/jobs/recordInfo?taskId=secret', '/api/v1/jobs/recordInfo', '401'],
  ['GET', '/media/results/one/video.mp4?expires=1&signature=x', '/media/*', '403'],
  ['GET', '/console', '/console', '200'],
  ['GET', '/console/tasks/some-id', '/console/*', '200'],
  ['GET', '/console/assets/none.js', '/console/assets/*', '404'],
  ['GET', '/wp-login.php', '(none)', '404'],
  ['DELETE', '/healthz', '(none)', '405'],
  ['POST', '/healthz', '(none)', '405'],
  ['PUT', '/healthz', '(none)', '405'],
  ['PATCH', '/healthz', '(none)', '405'],
  ['OPTIONS', '/nothing', '(none)', '404'],
  ['PROPFIND', '/nothing', '(none)', '404'],
] as const) {
  test(`${method} ${path} is reported as ${route}`, async () => {
    const startedAt = performance.now();
    const request = await reported(() => service.send(method, path));
    assert.equal(request.route, route);
    assert.equal(request.method, method === 'PROPFIND' ? '(other)' : method);
    assert.equal(request.status, status);
    assertMeasured(startedAt, 1000 * (request.durationSeconds ?? NaN));
  });
}

test('an answer that a client asked to be held has no duration: it would say nothing about the service', async () => {
  const request = await reported(() => service.create(key, plainRequest, { prefer: 'wait=1' }));
  assert.deepEqual(request, {
    kind: 'request_finished',
    route: '/api/v1/jobs/createTask',
    method: 'POST',
    status: '200',
    durationSeconds: undefined,
  });
});
