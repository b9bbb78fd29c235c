import { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { createAuthentication } from './authentication.ts';
import { isFromThisMachine } from './client-address.ts';
import { answer, type Context, type Extras, type RequestState } from './context.ts';
import { endpoints } from './endpoints.ts';
import { describeError } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { identifyRequest, logRequests } from './middleware/log-requests.ts';
import { refuseMalformed } from './middleware/malformed-requests.ts';
import { refuseUnknownRoutes, refuseUnsupported, type Route } from './middleware/unknown-endpoints.ts';
import { docsRoute, openApiRoute } from './routes/docs.ts';
import { documentRoutes } from './routes/documents.ts';
import { homeRoute } from './routes/home.ts';
import { mediaRoute } from './routes/media.ts';
import { metricsRoute, onlyThisMachine, showMetrics } from './routes/monitoring.ts';

export type HttpApp = Koa<RequestState, Extras>;

/** The whole HTTP contract: the middleware of every request, then one route per endpoint. */
export function createApp(deps: HttpDeps): HttpApp {
  return appAround(createRouter(deps), deps.log);
}

/** For a port of its own: `/metrics` and `/healthz`, to every client that reaches it. */
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
  app.use(refuseMalformed);
  app.use(router.routes());
  app.use(refuseUnsupported);
  app.use(refuseUnknownRoutes({ methodsOf: (ctx) => methodsOf(router, ctx), routes: routesOf(router) }));
  // Koa reports broken connections here and would print them; every other failure has been answered above.
  app.on('error', (error: unknown) => log.debug({ error: describeError(error) }, 'a connection broke'));
  return app;
}

type Layer = Router<RequestState, Extras>['stack'][number];

/** What a wrong path may have been meant for: not what only this machine may read, and HEAD goes along with GET. */
function routesOf(router: Router<RequestState, Extras>): readonly Route[] {
  return router.stack.flatMap((layer) => {
    const { path, methods } = layer;
    if (typeof path !== 'string' || isForThisMachine(layer)) return [];
    return methods.filter((method) => method !== 'HEAD').map((method) => ({ method, path }));
  });
}

function methodsOf(router: Router<RequestState, Extras>, { path, req }: Context): readonly string[] {
  return router.stack
    .filter((layer) => layer.match(path) && (!isForThisMachine(layer) || isFromThisMachine(req)))
    .flatMap((layer) => layer.methods);
}

function isForThisMachine({ stack }: Layer): boolean {
  return stack.some((step) => step === onlyThisMachine);
}
