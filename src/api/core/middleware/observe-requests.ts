import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Context, AppMiddleware } from '../request-context-and-responses.ts';
import { sharePathPrefix } from '../../../library/gallery/share-links.ts';
import { isConsoleApiPath } from '../endpoint-spec.ts';
import type { MetricEventSink } from '../../../platform/metrics/metric-event-sink.ts';
import { type FinishedRequest, maxEndpointLength } from '../../../library/request-log/request-log-rows.ts';
import { noRequestLog } from '../../../library/request-log/request-log-buffer.ts';

const probes: readonly string[] = ['/healthz', '/readyz', '/metrics'];

/**
 * Writes one log line per finished request, also if the client disconnected, adds the request to the log that the members of its account
 * read, and reports it for metrics. The logs omit bodies, headers and the query, which may hold a link's signature.
 */
export function logAndMeasureRequests(
  log: Logger,
  ofAccounts = noRequestLog,
  events?: MetricEventSink<RequestFinishedEvent>,
): AppMiddleware {
  return async (ctx, next) => {
    ctx.state.requestId = randomUUID();
    ctx.set({ 'X-Request-Id': ctx.state.requestId, 'X-Content-Type-Options': 'nosniff' });
    const startedAt = performance.now();
    const onEnd = () => {
      const level = ctx.res.statusCode >= 500 ? 'warn' : probes.includes(ctx.path) ? 'debug' : 'info';
      const elapsedMs = performance.now() - startedAt;
      const durationMs = Math.round(elapsedMs);
      log[level]({ ...logLine(ctx), durationMs }, 'request');
      const request = requestOfAccount(ctx, durationMs);
      if (request !== undefined) ofAccounts.add(request);
      events?.emit(finishedRequest(ctx, elapsedMs));
    };
    // An event otherwise runs in the trace of its emitter.
    ctx.res.once('close', context.bind(context.active(), onEnd));
    await next();
  };
}

function logLine(ctx: Context) {
  const { requestId, errorCode, accountId, operatorId, userId, tool } = ctx.state;
  const clientRequestId = ctx.get('X-Request-Id');
  return {
    requestId,
    method: ctx.method,
    path: loggedPath(ctx.path),
    tool,
    status: sentStatus(ctx),
    errorCode,
    accountId,
    operatorId,
    userId,
    clientRequestId: /^[\x21-\x7e]{1,128}$/.test(clientRequestId) ? clientRequestId : undefined,
    aborted: ctx.res.writableFinished ? undefined : true,
  };
}

/** The path of a share link holds its secret. */
function loggedPath(path: string): string {
  return path.startsWith(sharePathPrefix) ? `${sharePathPrefix}…` : path;
}

/** Before a response is sent, Koa's status is a 404. */
function sentStatus({ res }: Context): number | undefined {
  return res.headersSent ? res.statusCode : undefined;
}

/** Metrics name only these methods: clients may send any other word, and each would make a series. */
const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'];

export type RequestFinishedEvent = {
  readonly kind: 'request_finished';
  /** A route pattern. Routes and methods are from fixed lists, which bounds the number of series. */
  readonly route: string;
  readonly method: string;
  /** `aborted` if the client disconnected before the response began. */
  readonly status: string;
  readonly durationSeconds: number | undefined;
};

function finishedRequest(ctx: Context, elapsedMs: number): RequestFinishedEvent {
  return {
    kind: 'request_finished',
    route: routeOf(ctx),
    method: methods.includes(ctx.method) ? ctx.method : '(other)',
    status: String(sentStatus(ctx) ?? 'aborted'),
    durationSeconds: ctx.state.isHeld === true ? undefined : elapsedMs / 1000,
  };
}

/**
 * The request as its account reads it, undefined without an account. Reads by people are left out, because open pages of the console
 * poll and would fill the log; so are requests that only pages of the console make.
 */
function requestOfAccount(ctx: Context, durationMs: number): FinishedRequest | undefined {
  const { accountId, keyId, userId, requestId, tool, errorCode, taskId } = ctx.state;
  if (accountId === undefined || (keyId === undefined && ctx.method === 'GET') || isConsoleApiPath(ctx.path))
    return undefined;
  const endpoint = routeOf(ctx)
    .replaceAll(/:(\w+)/g, '{$1}')
    .slice(0, maxEndpointLength);
  const { method } = ctx;
  const status = sentStatus(ctx);
  return {
    requestId,
    accountId,
    keyId,
    userId,
    endedAt: Date.now(),
    durationMs,
    method,
    endpoint,
    tool,
    status,
    errorCode,
    taskId,
  };
}

/** The pattern of the matched route, or `(none)`; never the path. */
function routeOf(ctx: Context): string {
  if (ctx.state.route !== undefined) return ctx.state.route;
  // The router sets `_matchedRoute`; the type of the context does not declare it.
  const { _matchedRoute: matched } = ctx as { readonly _matchedRoute?: string | RegExp };
  if (matched === undefined) return '(none)';
  if (typeof matched === 'string') return matched;
  // `/media/*` for `^\/media\/.*$`.
  const [prefix = ''] = /^[\w/-]*/.exec(matched.source.replace(/^\^/, '').replaceAll('\\/', '/')) ?? [];
  return `${prefix}*`;
}

/** Opens a span per request, which continues the client's trace (W3C `traceparent`). */
export const traceRequests: AppMiddleware = async (ctx, next) => {
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
    const status = sentStatus(ctx);
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
