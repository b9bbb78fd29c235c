import { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { type AuthenticationDeps, createAuthentication } from './core/authentication.ts';
import { clientAddressOf, isFromThisMachine } from './core/client-address.ts';
import {
  answerEnvelope,
  type AppRouter,
  type Context,
  type NoContextExtras,
  type RequestState,
  type AppMiddleware,
} from './core/request-context-and-responses.ts';
import { addConsoleRoutes } from './console/serve-console-and-store-its-files.ts';
import type { GuardDeps } from './core/define-endpoint.ts';
import { type AllEndpointDeps, endpoints } from './endpoints.ts';
import { describeErrorForLog } from '../platform/setup-errors-and-error-messages.ts';
import { answerErrors } from './core/middleware/answer-errors.ts';
import { logAndMeasureRequests, type RequestFinishedEvent, traceRequests } from './core/middleware/observe-requests.ts';
import { refuseMalformed } from './core/middleware/malformed-requests.ts';
import { refuseUnknownRoutes } from './core/middleware/unknown-endpoints.ts';
import { refuseIfAnyUnreadyReason } from './health/health-routes.ts';
import { addOidcRoutes } from './sign-in/oidc-routes.ts';
import { addArchiveRoute } from './gallery/archive-routes.ts';
import { addSharePageRoute } from './gallery/share-page-routes.ts';
import { type McpDeps, addMcpRoute } from './mcp/mcp-routes.ts';
import type { MetricEventSink } from '../platform/metrics/metric-event-sink.ts';
import type { RequestLog } from '../library/request-log/request-log-buffer.ts';
import { addConsoleStatementRoute } from './credits/statement-routes.ts';
import { addMediaRoute } from './media/media-routes.ts';
import { addSampleRoute } from './models/sample-routes.ts';
import { addRootAndDocsRoutes } from './docs/root-and-docs-routes.ts';

export type HttpApp = Koa<RequestState, NoContextExtras>;

type Metrics = { readonly contentType: string; metrics(): Promise<string> };

type AppDeps = {
  readonly log: Logger;
  /** Served at `/metrics`, to loopback clients only. */
  readonly metrics: Metrics | undefined;
  /** Counts events; never throws. */
  readonly events: MetricEventSink<RequestFinishedEvent>;
  readonly requestLog: RequestLog;
  readonly isTraced: boolean;
  /** True for peers whose `X-Forwarded-For` is trusted. */
  readonly isTrustedProxy: (address: string) => boolean;
  readonly publicUrl: string;
  /** The disk that cannot be written; undefined while all can. Returns immediately. */
  readonly diskProblem: () => string | undefined;
};

/** Everything that the app, the guards, the endpoints and the other routes declare that they need. `src/run/main` provides it. */
export type AppNeeds = AppDeps & RouterNeeds;
type RouterNeeds = GuardDeps & AuthenticationDeps & AllEndpointDeps & McpDeps & Needs<(typeof otherRoutes)[number]>;
/** Of functions that each need something, all of it together. */
type Needs<AddRoutes> = (
  AddRoutes extends (router: AppRouter, deps: infer Deps) => void ? (deps: Deps) => void : never
) extends (deps: infer All) => void
  ? All
  : never;

const otherRoutes = [
  addOidcRoutes,
  addRootAndDocsRoutes,
  addConsoleStatementRoute,
  addConsoleRoutes,
  addSampleRoute,
  addSharePageRoute,
  // The paths of archives are among those of media, so this route comes first.
  addArchiveRoute,
  addMediaRoute,
];

export function createApp(deps: AppNeeds): HttpApp {
  return createAppOf(deps, createApiRouter(deps), deps.metrics && createMetricsRouter(deps.metrics));
}

type MetricsDeps = {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly readiness: () => readonly string[];
};

/** Serves `/metrics`, `/healthz` and `/readyz` on a separate port, to any client. */
export function createMetricsAndHealthApp({ log, metrics, readiness }: MetricsDeps): HttpApp {
  const router = createMetricsRouter(metrics);
  router.get('/healthz', (ctx) => answerEnvelope(ctx, { code: 200, msg: 'success', data: {} }));
  router.get('/readyz', (ctx) => {
    refuseIfAnyUnreadyReason(readiness());
    answerEnvelope(ctx, { code: 200, msg: 'success', data: {} });
  });
  return createAppOf({ log }, { router, byPath: new Map() });
}

const oneSpelling = { sensitive: true, strict: true };

type Routes = {
  readonly router: AppRouter;
  /** Endpoints without a parameter, by method and path. The router has them, too, for HEAD and for the methods of a path. */
  readonly byPath: ReadonlyMap<string, (ctx: Context) => Promise<void>>;
};

export function createApiRouter(deps: RouterNeeds): Routes {
  const router: AppRouter = new Router(oneSpelling);
  const byPath = new Map<string, (ctx: Context) => Promise<void>>();
  const authentication = createAuthentication(deps);
  for (const { method, path, serve } of endpoints) {
    const answerWith = (ctx: Context) => serve(ctx, deps, authentication);
    router[method](path.replaceAll(/\{(\w+)\}/g, ':$1'), answerWith);
    if (!path.includes('{')) byPath.set(`${method.toUpperCase()} ${path}`, answerWith);
  }
  addMcpRoute(router, deps, authentication);
  for (const addRoutes of otherRoutes) addRoutes(router, deps);
  return { router, byPath };
}

function createMetricsRouter(metrics: Metrics): AppRouter {
  const router: AppRouter = new Router(oneSpelling);
  router.get('/metrics', async (ctx) => {
    ctx.body = await metrics.metrics();
    ctx.set('Content-Type', metrics.contentType);
  });
  return router;
}

/** `local` routes are served to loopback clients only. */
function createAppOf(
  {
    log,
    events,
    requestLog,
    isTraced = false,
    isTrustedProxy = () => false,
    diskProblem,
    publicUrl = '',
  }: Partial<AppDeps> & Pick<AppDeps, 'log'>,
  { router, byPath }: Routes,
  local?: AppRouter,
): HttpApp {
  const app: HttpApp = new Koa();
  app.use((ctx, next) => {
    ctx.state.clientAddress = () => clientAddressOf(ctx.req, isTrustedProxy);
    if (publicUrl.startsWith('https:')) ctx.set('Strict-Transport-Security', 'max-age=31536000');
    return next();
  });
  if (isTraced) app.use(traceRequests);
  app.use(logAndMeasureRequests(log, requestLog, events));
  app.use(answerErrors(log, diskProblem));
  app.use(refuseMalformed);
  app.use(serveByPath(byPath));
  app.use(router.routes());
  if (local !== undefined) app.use(onlyLocally(local.routes()));
  app.use(refuseUnknownRoutes(router, local, publicUrl));
  // Only errors of broken connections reach this listener.
  app.on('error', (error: unknown) => log.debug({ error: describeErrorForLog(error) }, 'connection broke'));
  return app;
}

/** A router compares a path with each of its routes, which takes longer than many endpoints do. */
function serveByPath(byPath: Routes['byPath']): AppMiddleware {
  return (ctx, next) => {
    const serve = byPath.get(`${ctx.method} ${ctx.path}`);
    if (serve === undefined) return next();
    ctx.state.route = ctx.path;
    return serve(ctx);
  };
}

function onlyLocally(routes: ReturnType<AppRouter['routes']>): typeof routes {
  return async (ctx, next) => {
    await (isFromThisMachine(ctx.req) ? routes(ctx, next) : next());
  };
}
