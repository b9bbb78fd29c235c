import { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { createAuthentication } from './authentication.ts';
import { describeError } from './describe-error.ts';
import { endpoints } from './endpoints.ts';
import { answer } from './envelope.ts';
import type { HttpDeps } from './http-deps.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { identifyRequest } from './middleware/identify-request.ts';
import { logRequests } from './middleware/log-requests.ts';
import { refuseNotOffered } from './middleware/refuse-not-offered.ts';
import { refuseOddRequests } from './middleware/refuse-odd-requests.ts';
import { refuseUnknownRoutes } from './middleware/refuse-unknown-routes.ts';
import type { Route } from './nearest-route.ts';
import type { Extras, RequestState } from './request-state.ts';
import { docsRoute } from './routes/docs.ts';
import { documentRoutes } from './routes/documents.ts';
import { homeRoute } from './routes/home.ts';
import { mediaRoute } from './routes/media.ts';
import { metricsRoute, showMetrics } from './routes/metrics.ts';
import { openApiRoute } from './routes/openapi.ts';

export type HttpApp = Koa<RequestState, Extras>;

/** The whole HTTP contract: what every request passes, then one route per endpoint. */
export function createApp(deps: HttpDeps): HttpApp {
  return appAround(createRouter(deps), deps.log);
}

/** What a port of its own serves: `/metrics` and `/healthz`, to everybody who reaches it. */
export function createMetricsApp({ log, metrics }: Required<Pick<HttpDeps, 'log' | 'metrics'>>): HttpApp {
  const router = new Router<RequestState, Extras>({ sensitive: true, strict: true });
  router.get('/healthz', (ctx) => answer(ctx, { code: 200, msg: 'success', data: {} }));
  router.get('/metrics', (ctx) => showMetrics(ctx, metrics));
  return appAround(router, log);
}

/** Every endpoint; nothing else answers. */
export function createRouter(deps: HttpDeps): Router<RequestState, Extras> {
  // One spelling of each path, so that a limit or a log line counts an endpoint once.
  const router = new Router<RequestState, Extras>({ sensitive: true, strict: true });
  const authentication = createAuthentication(deps);
  for (const { method, path, serve } of endpoints) router[method](path, (ctx) => serve(ctx, deps, authentication));
  openApiRoute(router, deps);
  homeRoute(router, deps);
  docsRoute(router);
  documentRoutes(router);
  mediaRoute(router, deps);
  metricsRoute(router, deps);
  return router;
}

/** The steps before a route takes a request, and the answer when none does. */
export function appAround(router: Router<RequestState, Extras>, log: Logger): HttpApp {
  const app: HttpApp = new Koa();
  app.use(identifyRequest);
  app.use(logRequests(log));
  app.use(answerErrors(log));
  app.use(refuseOddRequests);
  app.use(router.routes());
  app.use(refuseNotOffered);
  app.use(refuseUnknownRoutes({ methodsOf: (path) => methodsOf(router, path), routes: routesOf(router) }));
  // Koa reports broken connections here and would print them; every other failure has been answered above.
  app.on('error', (error: unknown) => log.debug({ error: describeError(error) }, 'a connection broke'));
  return app;
}

/** What a wrong path may have been meant for: not what only this machine may read, and HEAD goes along with GET. */
function routesOf(router: Router<RequestState, Extras>): readonly Route[] {
  return router.stack.flatMap(({ path, methods }) =>
    typeof path === 'string' && path !== '/metrics'
      ? methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path }))
      : [],
  );
}

function methodsOf(router: Router<RequestState, Extras>, path: string): readonly string[] {
  return router.stack.filter((layer) => layer.match(path)).flatMap((layer) => layer.methods);
}
