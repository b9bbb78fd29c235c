import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import { withSpan } from '../../../src/platform/outbound/request-span.ts';

const exporter = new InMemorySpanExporter();
before(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
});
after(() => {
  trace.disable();
  context.disable();
});

type Send = Parameters<typeof withSpan<string>>[2];

/** The span of an exchange within another one. */
async function spanOf(method: string, url: string, send: Send) {
  exporter.reset();
  const parentId = await trace.getTracer('test').startActiveSpan('parent', async (parent) => {
    await withSpan(method, new URL(url), send).catch(() => undefined);
    parent.end();
    return parent.spanContext().spanId;
  });
  const [span, parent, ...others] = exporter.getFinishedSpans();
  assert.deepEqual([parent?.name, span?.parentSpanId, others.length], ['parent', parentId, 0]);
  assert.ok(span);
  return { name: span.name, kind: span.kind, status: span.status.code, attributes: span.attributes };
}

const answered =
  (statusCode: number): Send =>
  (onResponse) => {
    onResponse({ statusCode } as IncomingMessage);
    return Promise.resolve('read');
  };
const { UNSET, ERROR } = SpanStatusCode;

for (const [url, port, send, status, more] of [
  ['http://a.example/secret', 80, answered(200), UNSET, { 'http.response.status_code': 200 }],
  ['https://a.example/secret', 443, answered(399), UNSET, { 'http.response.status_code': 399 }],
  ['https://a.example:8443', 8443, answered(400), ERROR, { 'http.response.status_code': 400, 'error.type': '400' }],
  ['http://a.example', 80, () => Promise.reject(new OutboundError('dns', 'x')), ERROR, { 'error.type': 'dns' }],
  ['http://a.example', 80, () => Promise.reject(new Error('stopped')), ERROR, { 'error.type': 'aborted' }],
] as const)
  test(`an exchange with ${url} that ends with ${JSON.stringify(more)} is one span without its path`, async () => {
    assert.deepEqual(await spanOf('PUT', url, send), {
      name: 'PUT',
      kind: SpanKind.CLIENT,
      status,
      attributes: { 'http.request.method': 'PUT', 'server.address': 'a.example', 'server.port': port, ...more },
    });
  });

test('the exchange has its result or its error, with a trace and without one, which has no span', async () => {
  const error = new OutboundError('dns', 'x');
  const url = new URL('http://a.example');
  exporter.reset();
  const both = async () => {
    assert.equal(await withSpan('GET', url, answered(200)), 'read');
    await assert.rejects(
      withSpan('GET', url, () => Promise.reject(error)),
      error,
    );
  };
  await both();
  assert.equal(exporter.getFinishedSpans().length, 0);
  await trace.getTracer('test').startActiveSpan('parent', both);
  assert.equal(exporter.getFinishedSpans().length, 2);
});
