import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Step } from '../context.ts';
import { probes } from './log-requests.ts';
import { routeOf } from './measure-requests.ts';

/** The span of each request, which continues the trace that its client names (W3C `traceparent`). It knows the route, not the path. */
export const traceRequests: Step = async (ctx, next) => {
  if (probes.includes(ctx.path)) {
    await next();
    return;
  }
  const tracer = trace.getTracer('videogen');
  const { method } = ctx;
  const parent = propagation.extract(ROOT_CONTEXT, ctx.headers);
  const attributes = { 'http.request.method': method, 'url.scheme': ctx.protocol };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  ctx.res.once('close', () => {
    const { accountId, errorCode, requestId } = ctx.state;
    const status = ctx.res.headersSent ? ctx.res.statusCode : undefined;
    const route = routeOf(ctx);
    if (route !== '(none)') span.updateName(`${method} ${route}`).setAttribute('http.route', route);
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    if (accountId !== undefined) span.setAttribute('videogen.account_id', accountId);
    if (errorCode !== undefined) span.setAttribute('error.type', errorCode);
    span.setAttribute('videogen.request_id', requestId);
    if (status !== undefined && status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  });
  await context.with(trace.setSpan(parent, span), next);
};
