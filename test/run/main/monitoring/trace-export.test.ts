import { context, diag, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pino } from 'pino';
import { exportTraces } from '../../../../src/run/main/monitoring/trace-export.ts';
import { currentTracing, startTracing } from '../../../../src/run/main/monitoring/tracing.ts';
import { buildVersion } from '../../../../src/run/metrics/process-metrics.ts';
import { startTraceReceiver } from '../../../support/servers/trace-receiver.ts';

// A task as one trace, over processes: test/ops/traces.

/** Exports to a receiver, and ends what is global in the process with the test. */
async function exportTo(t: TestContext) {
  const receiver = await startTraceReceiver();
  t.after(() => receiver.close());
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = receiver.url;
  const lines: object[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as object);
  const tracing = exportTraces(pino({ base: null, timestamp: false }, { write }));
  t.after(() => {
    for (const api of [trace, context, propagation, diag]) api.disable();
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  });
  return { receiver, tracing, lines };
}

test('spans are exported under our name until the end, and an error with its type alone', async (t) => {
  const { receiver, tracing, lines } = await exportTo(t);
  const span = trace.getTracer('test').startSpan('a step');
  span.recordException(new TypeError('a prompt'));
  span.addEvent('a note', { said: 'a prompt' });
  span.setStatus({ code: SpanStatusCode.ERROR, message: 'a prompt' });
  span.end();
  await tracing.close();
  assert.deepEqual(
    receiver.spans.map(({ name, status }) => [name, status]),
    [['a step', 2]],
  );
  const text = receiver.text();
  for (const part of ['service.name', 'videogen', 'service.version', buildVersion(), 'TypeError', 'a note'])
    assert.ok(text.includes(part), part);
  assert.ok(!text.includes('a prompt'));
  assert.deepEqual(propagation.fields(), ['traceparent', 'tracestate'], 'without baggage');
  const [starts = {}] = [tracing.client.workflow ?? []].flat();
  assert.deepEqual(Object.keys(starts), ['start', 'startWithDetails', 'signalWithStart']);
  assert.deepEqual(
    [tracing.worker.interceptors?.activity?.length, Object.keys(tracing.worker.sinks ?? {})],
    [1, ['exporter']],
  );
  assert.deepEqual(lines, []);
});

test('an export that fails is a warning, once a minute', async (t) => {
  const { tracing, lines } = await exportTo(t);
  let nowMs = 5;
  t.mock.method(performance, 'now', () => nowMs);
  diag.error('x'.repeat(501));
  nowMs += 59_999;
  diag.warn('again');
  nowMs += 1;
  diag.warn('a minute later');
  nowMs += 60_000;
  diag.info('no problem');
  const msg = 'traces not exported';
  assert.deepEqual(lines, [
    { level: 40, detail: 'x'.repeat(500), msg },
    { level: 40, detail: 'a minute later', msg },
  ]);
  await tracing.close();
});

test('nothing is exported while tracing is off', async () => {
  const { close } = await startTracing({ isTracing: false }, pino({ level: 'silent' }));
  await close();
  assert.equal(currentTracing(), undefined);
});
