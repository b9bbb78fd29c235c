import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startOwnUpstream } from '../fakes/own-upstream.ts';
import { type Api, createTask } from '../support/service/call-api.ts';
import { startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { endPrograms, startProgram } from '../support/processes/programs.ts';
import { createTestAccount, createTestEnvironment } from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';
import {
  collectorPath,
  type SeenSpan,
  startTraceReceiver,
  type TraceReceiver,
} from '../support/servers/trace-receiver.ts';
import { waitFor } from '../support/wait-for.ts';

// API and worker as processes of their own, and a task that goes from a client with a trace to an upstream and back to its receiver.

const prompt = 'a lighthouse that nobody may read of';

for (const [name, through] of [
  ['directly', undefined],
  ['through a real collector', collectorPath],
] as const) {
  const skip = name !== 'directly' && through === undefined && 'VIDEOGEN_TEST_OTELCOL names no collector';
  describe(`traces that are exported ${name}`, { skip }, () => {
    const closings: (() => Promise<unknown>)[] = [];
    const traceId = randomBytes(16).toString('hex');
    const clientSpanId = randomBytes(8).toString('hex');
    const callbacks: IncomingHttpHeaders[] = [];
    let receiver: TraceReceiver;
    let api: Api;
    let log = '';
    let ofTrace: readonly SeenSpan[];
    let asked: readonly IncomingHttpHeaders[];

    before(async () => {
      receiver = await startTraceReceiver(through);
      closings.push(() => receiver.close());
      const upstream = await startOwnUpstream();
      closings.push(() => upstream.close());
      const client = await startCallbackReceiver();
      closings.push(() => client.close());
      const environment = await createTestEnvironment({
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        LOG_LEVEL: 'info',
      });
      closings.push(() => environment.close());
      const { settings, database } = environment;
      const file = join(settings.dataFolder, 'catalogue.json');
      await writeFile(file, JSON.stringify(catalogueAt(upstream.address)));
      const env = { ...environment.environment, VIDEOGEN_MODELS: file };
      const stdio = ['ignore', 'pipe', 'inherit'] as const;
      const programs = ['api', 'worker'].map((part) =>
        startProgram(`../../../src/run/main/${part}.js`, [], { env, stdio: [...stdio] }),
      );
      closings.push(() => endPrograms(programs));
      for (const { stdout } of programs) stdout?.on('data', (text) => (log += String(text)));
      api = { baseUrl: settings.publicUrl, key: (await createTestAccount(database)).key };
      await waitFor('the API', () =>
        fetch(`${api.baseUrl}/readyz`).then(
          ({ ok }) => ok || undefined,
          () => undefined,
        ),
      );
      const request = { model: 'made', input: { prompt, duration: 4 }, callBackUrl: `${client.url}/secret-path` };
      const { body } = await createTask(api, request, { traceparent: `00-${traceId}-${clientSpanId}-01` });
      const job = await waitFor('its job', async () => (await upstream.books.jobsFor(prompt))[0]);
      await upstream.books.end(job.id, 'succeeded');
      await waitForEnd(database.db, String(body.data['taskId']));
      callbacks.push(...(await client.waitForCallbacks('/secret-path', 1)).map(({ headers }) => headers));
      await waitFor('the end of the trace', () => receiver.spans.find((span) => span.name === 'RunWorkflow:videoTask'));
      await waitFor('its callback', () => receiver.spans.find((span) => span.name === 'RunActivity:sendCallback'));
      const spans = () => receiver.spans.filter((span) => span.traceId === traceId);
      // API and worker send their spans independently of each other.
      await waitFor('the spans of the API', () =>
        spans().some(isOfClient) && orphansAmong(spans()).length === 0 ? true : undefined,
      );
      ofTrace = spans();
      asked = upstream.headers;
    });
    after(async () => {
      for (const close of closings.toReversed()) await close();
    });

    const isOfClient = ({ parentSpanId }: SeenSpan) => parentSpanId === clientSpanId;
    const orphansAmong = (spans: readonly SeenSpan[]) => {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      return spans.filter((span) => !isOfClient(span) && !ids.has(span.parentSpanId));
    };
    const named = (wanted: string) => ofTrace.filter(({ name: spanName }) => spanName === wanted);

    test('a task is one trace, from the request of its client, who began it, to the callback', () => {
      const [request] = named('POST /api/v1/jobs/createTask');
      assert.deepEqual([request?.parentSpanId, request?.kind], [clientSpanId, 2]);
      assert.equal(request?.attributes['http.response.status_code'], 200);
      assert.deepEqual(orphansAmong(ofTrace), []);
      for (const step of ['chargeCredits', 'generateVideo', 'storeResult', 'completeTask', 'sendCallback'])
        assert.ok(named(`RunActivity:${step}`).length > 0, step);
      assert.equal(named('StartWorkflow:videoTask')[0]?.parentSpanId, request?.spanId);
      assert.deepEqual(
        ofTrace.filter(({ status }) => status === 2),
        [],
      );
    });

    test('requests to upstreams and to the receiver are spans of their activities, which name the host', () => {
      for (const [method, step] of [
        ['PUT', 'generateVideo'],
        ['POST', 'sendCallback'],
      ] as const) {
        const [span] = named(method).filter(({ kind }) => kind === 3);
        const parents = named(`RunActivity:${step}`).map(({ spanId }) => spanId);
        assert.ok(span !== undefined && parents.includes(span.parentSpanId), step);
        assert.equal(span.attributes['server.address'], '127.0.0.1');
      }
    });

    test('no prompt, key or address of a client is in any span', () => {
      for (const secret of [prompt, 'lighthouse', api.key, 'secret-path'])
        assert.ok(!receiver.text().includes(secret), secret);
    });

    test('neither upstream nor receiver gets trace headers', () => {
      assert.ok(asked.length > 0 && callbacks.length > 0);
      for (const headers of [...asked, ...callbacks])
        assert.deepEqual(
          Object.keys(headers).filter((header) => /trace|baggage/i.test(header)),
          [],
        );
    });

    test('lines of the log lead to the trace', async () => {
      const line = new RegExp(`"trace_id":"${traceId}".*"path":"/api/v1/jobs/createTask"`);
      await waitFor('the line of the request', () => (line.test(log) ? true : undefined));
    });
  });
}

function catalogueAt(address: string) {
  const tiers = [[{ provider: 'own', model: 'wan' }]];
  const prices = [{ creditsPerSecond: 1 }];
  return {
    providers: { own: { kind: 'own', baseUrl: `http://${address}` } },
    models: [{ model: 'made', title: 'Made', prices, tiers }],
  };
}

test('without an endpoint nothing that exports is loaded', () => {
  const script = `
    await import('./dist/src/run/main/start-api.js'); await import('./dist/src/run/main/start-worker.js');
    const { default: module } = await import('node:module');
    console.log(Object.keys(module._cache).filter((file) => /opentelemetry.(sdk|exporter|otlp)|interceptors-opentelemetry/.test(file)).length);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  assert.equal(stdout.trim(), '0');
});
