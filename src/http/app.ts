import { Router } from '@koa/router';
import Koa from 'koa';
import { describeError } from './describe-error.ts';
import type { HttpDeps } from './http-deps.ts';
import { answerFailures } from './middleware/answer-failures.ts';
import { identifyRequest } from './middleware/identify-request.ts';
import { logRequests } from './middleware/log-requests.ts';
import { refuseOddRequests } from './middleware/refuse-odd-requests.ts';
import { refuseUnknownRoutes } from './middleware/refuse-unknown-routes.ts';
import type { Extras, RequestState } from './request-state.ts';
import { listCallbacksRoute } from './routes/callbacks-list.ts';
import { redeliverCallbackRoute } from './routes/callbacks-redeliver.ts';
import { rotateCallbackSecretRoute } from './routes/callbacks-rotate-secret.ts';
import { showCallbackSecretRoute } from './routes/callbacks-secret.ts';
import { cancelTaskRoute } from './routes/cancel-task.ts';
import { createTaskRoute } from './routes/create-task.ts';
import { creditsRoute } from './routes/credits.ts';
import { docsRoute } from './routes/docs.ts';
import { healthzRoute } from './routes/healthz.ts';
import { createKeyRoute } from './routes/keys-create.ts';
import { listKeysRoute } from './routes/keys-list.ts';
import { revokeKeyRoute } from './routes/keys-revoke.ts';
import { rotateKeyRoute } from './routes/keys-rotate.ts';
import { listTasksRoute } from './routes/list-tasks.ts';
import { mediaRoute } from './routes/media.ts';
import { metricsRoute } from './routes/metrics.ts';
import { modelsRoute } from './routes/models.ts';
import { openApiRoute } from './routes/openapi.ts';
import { readyzRoute } from './routes/readyz.ts';
import { recordInfoRoute } from './routes/record-info.ts';

export type HttpApp = Koa<RequestState, Extras>;

/** The whole HTTP contract: what every request passes, then one route per endpoint. */
export function createApp(deps: HttpDeps): HttpApp {
  const app: HttpApp = new Koa();
  const router = createRouter(deps);
  app.use(identifyRequest);
  app.use(logRequests(deps.log));
  app.use(answerFailures(deps.log));
  app.use(refuseOddRequests);
  app.use(router.routes());
  app.use(refuseUnknownRoutes((path) => methodsOf(router, path)));
  // Koa reports broken connections here and would print them; every other failure has been answered above.
  app.on('error', (error: unknown) => deps.log.debug({ error: describeError(error) }, 'a connection broke'));
  return app;
}

/** Every endpoint; nothing else answers. */
export function createRouter(deps: HttpDeps): Router<RequestState, Extras> {
  // One spelling of each path, so that a limit or a log line counts an endpoint once.
  const router = new Router<RequestState, Extras>({ sensitive: true, strict: true });
  createTaskRoute(router, deps);
  recordInfoRoute(router, deps);
  cancelTaskRoute(router, deps);
  listTasksRoute(router, deps);
  creditsRoute(router, deps);
  modelsRoute(router, deps);
  listCallbacksRoute(router, deps);
  redeliverCallbackRoute(router, deps);
  showCallbackSecretRoute(router, deps);
  rotateCallbackSecretRoute(router, deps);
  listKeysRoute(router, deps);
  createKeyRoute(router, deps);
  rotateKeyRoute(router, deps);
  revokeKeyRoute(router, deps);
  openApiRoute(router, deps);
  docsRoute(router);
  healthzRoute(router);
  readyzRoute(router, deps);
  mediaRoute(router, deps);
  metricsRoute(router, deps);
  return router;
}

function methodsOf(router: Router<RequestState, Extras>, path: string): readonly string[] {
  return router.stack.filter((layer) => layer.match(path)).flatMap((layer) => layer.methods);
}
