import { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { createAuthentication } from './authentication.ts';
import { addressOf, isFromThisMachine } from './client-address.ts';
import { answer, type AppRouter, type Extras, type RequestState } from './context.ts';
import { consoleRoutes } from './console/serve-console.ts';
import { endpoints } from './endpoints.ts';
import { describeError } from '../domain/errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { logRequests } from './middleware/log-requests.ts';
import { measureRequests } from './middleware/measure-requests.ts';
import { refuseMalformed } from './middleware/malformed-requests.ts';
import { traceRequests } from './middleware/trace-requests.ts';
import { refuseUnknownRoutes } from './middleware/unknown-endpoints.ts';
import { refuseUnlessReady } from './routes/monitoring.ts';
import { oidcRoutes } from './routes/console/oidc.ts';
import { mediaRoute } from './routes/media.ts';
import { pageRoutes } from './routes/pages.ts';

export type HttpApp = Koa<RequestState, Extras>;

/** The whole HTTP contract: the middleware of every request, then one route per endpoint. */
export function createApp(deps: HttpDeps): HttpApp {
  const { log, metrics, onRequest, isTraced, isTrustedProxy, publicUrl } = deps;
  const isHttps = publicUrl.startsWith('https:');
  return createAppOf(
    { log, onRequest, isTraced, isTrustedProxy, isHttps },
    createRouter(deps),
    metrics && createMetricsRouter(metrics),
  );
}

type MetricsDeps = {
  readonly log: Logger;
  readonly metrics: NonNullable<HttpDeps['metrics']>;
  readonly readiness: () => readonly string[];
};

/** For a port of its own: `/metrics`, `/healthz` and `/readyz`, to every client that reaches it. */
export function createMetricsApp({ log, metrics, readiness }: MetricsDeps): HttpApp {
  const router = createMetricsRouter(metrics);
  router.get('/healthz', (ctx) => answer(ctx, { code: 200, msg: 'success', data: {} }));
  router.get('/readyz', (ctx) => {
    refuseUnlessReady(readiness());
    answer(ctx, { code: 200, msg: 'success', data: {} });
  });
  return createAppOf({ log }, router);
}

/** One spelling of each path, so that a limit or a log line counts an endpoint once. */
const oneSpelling = { sensitive: true, strict: true };

export function createRouter(deps: HttpDeps): AppRouter {
  const router: AppRouter = new Router(oneSpelling);
  const authentication = createAuthentication(deps);
  for (const { method, path, serve } of endpoints) router[method](path, (ctx) => serve(ctx, deps, authentication));
  oidcRoutes(router, deps);
  pageRoutes(router, deps);
  consoleRoutes(router, deps);
  mediaRoute(router, deps);
  return router;
}

/** In Prometheus' text format, without an envelope. */
function createMetricsRouter(metrics: NonNullable<HttpDeps['metrics']>): AppRouter {
  const router: AppRouter = new Router(oneSpelling);
  router.get('/metrics', async (ctx) => {
    ctx.body = await metrics.metrics();
    ctx.set('Content-Type', metrics.contentType);
  });
  return router;
}

type Watching = {
  readonly log: Logger;
  readonly onRequest?: HttpDeps['onRequest'];
  readonly isTraced?: boolean;
  readonly isTrustedProxy?: HttpDeps['isTrustedProxy'];
  /** Browsers then never use plain http for this host again. */
  readonly isHttps?: boolean;
};

/** The steps around the routes. Those of `own` exist for this machine alone: metrics show the volume of business. */
function createAppOf(
  { log, onRequest, isTraced, isTrustedProxy = () => false, isHttps = false }: Watching,
  router: AppRouter,
  own?: AppRouter,
): HttpApp {
  const app: HttpApp = new Koa();
  app.use((ctx, next) => {
    ctx.state.clientAddress = addressOf(ctx.req, isTrustedProxy);
    if (isHttps) ctx.set('Strict-Transport-Security', 'max-age=31536000');
    return next();
  });
  if (isTraced === true) app.use(traceRequests);
  app.use(logRequests(log));
  if (onRequest !== undefined) app.use(measureRequests(onRequest));
  app.use(answerErrors(log));
  app.use(refuseMalformed);
  app.use(router.routes());
  if (own !== undefined) app.use(onlyHere(own.routes()));
  app.use(refuseUnknownRoutes(router, own));
  // Koa reports broken connections here; every other failure has been answered.
  app.on('error', (error: unknown) => log.debug({ error: describeError(error) }, 'a connection broke'));
  return app;
}

function onlyHere(routes: ReturnType<AppRouter['routes']>): typeof routes {
  return async (ctx, next) => {
    await (isFromThisMachine(ctx.req) ? routes(ctx, next) : next());
  };
}
