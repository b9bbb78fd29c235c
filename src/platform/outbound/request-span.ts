import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { IncomingMessage } from 'node:http';
import { OutboundError } from './outbound-error.ts';

/**
 * Adds a span to the current trace, if there is one. It has the host, not the path, which may be a secret or a client's. The other side
 * gets no trace context, which would reveal internals.
 */
export async function withSpan<T>(
  method: string,
  { hostname, port, protocol }: URL,
  send: (onResponse: (response: IncomingMessage) => void) => Promise<T>,
): Promise<T> {
  if (trace.getActiveSpan() === undefined) return send(() => {});
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  return trace.getTracer('videogen').startActiveSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    try {
      return await send(({ statusCode = 0 }) => {
        span.setAttribute('http.response.status_code', statusCode);
        if (statusCode < 400) return;
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', String(statusCode));
      });
    } catch (error) {
      const kind = error instanceof OutboundError ? error.kind : 'aborted';
      span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', kind);
      throw error;
    } finally {
      span.end();
    }
  });
}
