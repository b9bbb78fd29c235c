import { Router } from '@koa/router';
import { appAround, type HttpApp } from './app-around.ts';
import type { HttpDeps } from './http-deps.ts';
import { chatCreditRoute } from './kie/chat-credit.ts';
import { downloadUrlRoute } from './kie/download-url.ts';
import { addOperatorRoutes } from './operator-routes.ts';
import type { Extras, RequestState } from './request-state.ts';
import { listCallbacksRoute } from './routes/callbacks-list.ts';
import { redeliverCallbackRoute } from './routes/callbacks-redeliver.ts';
import { rotateCallbackSecretRoute } from './routes/callbacks-rotate-secret.ts';
import { showCallbackSecretRoute } from './routes/callbacks-secret.ts';
import { cancelTaskRoute } from './routes/cancel-task.ts';
import { createTaskRoute } from './routes/create-task.ts';
import { creditsRoute } from './routes/credits.ts';
import { docsRoute } from './routes/docs.ts';
import { documentRoutes } from './routes/documents.ts';
import { healthzRoute } from './routes/healthz.ts';
import { homeRoute } from './routes/home.ts';
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

/** The whole HTTP contract: what every request passes, then one route per endpoint. */
export function createApp(deps: HttpDeps): HttpApp {
  return appAround(createRouter(deps), deps.log);
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
  chatCreditRoute(router, deps);
  downloadUrlRoute(router, deps);
  addOperatorRoutes(router, deps);
  openApiRoute(router, deps);
  homeRoute(router, deps);
  docsRoute(router);
  documentRoutes(router);
  healthzRoute(router);
  readyzRoute(router, deps);
  mediaRoute(router, deps);
  metricsRoute(router, deps);
  return router;
}
