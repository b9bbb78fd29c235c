import type { Router } from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { describeError } from './describe-error.ts';
import { answerFailures } from './middleware/answer-failures.ts';
import { identifyRequest } from './middleware/identify-request.ts';
import { logRequests } from './middleware/log-requests.ts';
import { refuseOddRequests } from './middleware/refuse-odd-requests.ts';
import { refuseUnknownRoutes } from './middleware/refuse-unknown-routes.ts';
import type { Route } from './nearest-route.ts';
import type { Extras, RequestState } from './request-state.ts';

export type HttpApp = Koa<RequestState, Extras>;

/** What every request passes before a route takes it, and what answers when none does. */
export function appAround(router: Router<RequestState, Extras>, log: Logger): HttpApp {
  const app: HttpApp = new Koa();
  app.use(identifyRequest);
  app.use(logRequests(log));
  app.use(answerFailures(log));
  app.use(refuseOddRequests);
  app.use(router.routes());
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
