import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, test } from 'node:test';
import { createApp } from '../../../src/api/app.ts';
import { startHttpServer } from '../../../src/api/core/server/http-server.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { assertRefused, createHttpClient } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService({ metrics: createMetrics().registry });
});
after(() => service.close());

test('200 /metrics speaks to Prometheus in its own format, without a key, on the machine itself', async () => {
  const answer = await service.send('GET', '/metrics');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/plain; version=0\.0\.4/);
  assert.match(answer.bytes.toString(), /^# TYPE videogen_tasks_reconciled_total counter$/m);
});

for (const header of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'Via']) {
  test(`404 /metrics does not exist for whoever comes through a proxy on this machine, told by ${header}`, async () => {
    const headers = { [header]: '127.0.0.1' };
    assertRefused(await service.send('GET', '/metrics', { headers }), 404, /^unknown endpoint; all endpoints: \/docs$/);
  });
}

for (const method of ['POST', 'PUT', 'OPTIONS']) {
  test(`404 ${method} /metrics does not betray to others what GET hides, and this machine may know it`, async () => {
    const refused = await service.send(method, '/metrics', { headers: { 'X-Forwarded-For': '127.0.0.1' } });
    assertRefused(refused, 404, /^unknown endpoint; all endpoints: \/docs$/);
    assert.equal(refused.headers.allow, undefined);
    const own = await service.send(method, '/metrics');
    assert.deepEqual([own.status, own.headers.allow], [method === 'OPTIONS' ? 200 : 405, 'GET, HEAD, OPTIONS']);
  });
}

test('404 nor for another machine', async (t) => {
  const address = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (address === undefined) {
    t.skip('this machine has no other address than loopback to call from');
    return;
  }
  // A call to an own address comes from that address, as one from another machine would.
  const { log } = service.deps;
  const server = await startHttpServer({ app: createApp(service.deps), host: address, port: 0, log });
  try {
    const send = createHttpClient(`http://${address}:${server.port}`);
    assertRefused(await send('GET', '/metrics'), 404, /^unknown endpoint; all endpoints: \/docs$/);
    assert.equal((await send('GET', '/healthz')).status, 200);
  } finally {
    await server.close(1_000);
  }
});

test('404 without metrics there is unknown endpoint, which is so when they have a port of their own', async () => {
  const own = await startHttpService({ database: service.database });
  try {
    assertRefused(await own.send('GET', '/metrics'), 404, /^unknown endpoint; all endpoints: \/docs$/);
  } finally {
    await own.close();
  }
});
