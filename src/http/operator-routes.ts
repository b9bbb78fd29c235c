import type { Router } from '@koa/router';
import type { HttpDeps } from './http-deps.ts';
import type { Operation } from './operation.ts';
import type { Extras, RequestState } from './request-state.ts';
import { createAccountOperation, createAccountRoute } from './routes/admin/accounts-create.ts';
import { limitAccountOperation, limitAccountRoute } from './routes/admin/accounts-limits.ts';
import { listAccountsOperation, listAccountsRoute } from './routes/admin/accounts-list.ts';
import { showAccountOperation, showAccountRoute } from './routes/admin/accounts-show.ts';
import { suspendAccountOperation, suspendAccountRoute } from './routes/admin/accounts-suspend.ts';
import { unsuspendAccountOperation, unsuspendAccountRoute } from './routes/admin/accounts-unsuspend.ts';
import { listActionsOperation, listActionsRoute } from './routes/admin/audit.ts';
import { listFailedCallbacksOperation, listFailedCallbacksRoute } from './routes/admin/callbacks-failed.ts';
import { redeliverAnyCallbackOperation, redeliverAnyCallbackRoute } from './routes/admin/callbacks-redeliver.ts';
import { adjustCreditsOperation, adjustCreditsRoute } from './routes/admin/credits-adjust.ts';
import { grantCreditsOperation, grantCreditsRoute } from './routes/admin/credits-grant.ts';
import { showCreditsOperation, showCreditsRoute } from './routes/admin/credits-show.ts';
import { createKeyForOperation, createKeyForRoute } from './routes/admin/keys-create.ts';
import { listKeysOfOperation, listKeysOfRoute } from './routes/admin/keys-list.ts';
import { revokeAnyKeyOperation, revokeAnyKeyRoute } from './routes/admin/keys-revoke.ts';
import { listRatesOperation, listRatesRoute } from './routes/admin/rates-list.ts';
import { setRateOperation, setRateRoute } from './routes/admin/rates-set.ts';
import { withdrawRateOperation, withdrawRateRoute } from './routes/admin/rates-withdraw.ts';
import { cancelAnyTaskOperation, cancelAnyTaskRoute } from './routes/admin/tasks-cancel.ts';
import { listAllTasksOperation, listAllTasksRoute } from './routes/admin/tasks-list.ts';
import { showTaskOperation, showTaskRoute } from './routes/admin/tasks-show.ts';

/** The endpoints for operators, in the order of the documentation. */
export const operatorOperations: readonly Operation[] = [
  listAccountsOperation,
  showAccountOperation,
  createAccountOperation,
  suspendAccountOperation,
  unsuspendAccountOperation,
  limitAccountOperation,
  showCreditsOperation,
  grantCreditsOperation,
  adjustCreditsOperation,
  listRatesOperation,
  setRateOperation,
  withdrawRateOperation,
  listKeysOfOperation,
  createKeyForOperation,
  revokeAnyKeyOperation,
  listAllTasksOperation,
  showTaskOperation,
  cancelAnyTaskOperation,
  listFailedCallbacksOperation,
  redeliverAnyCallbackOperation,
  listActionsOperation,
];

/** Everything under `/api/admin/v1`. */
export function addOperatorRoutes(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  listAccountsRoute(router, deps);
  showAccountRoute(router, deps);
  createAccountRoute(router, deps);
  suspendAccountRoute(router, deps);
  unsuspendAccountRoute(router, deps);
  limitAccountRoute(router, deps);
  showCreditsRoute(router, deps);
  grantCreditsRoute(router, deps);
  adjustCreditsRoute(router, deps);
  listRatesRoute(router, deps);
  setRateRoute(router, deps);
  withdrawRateRoute(router, deps);
  listKeysOfRoute(router, deps);
  createKeyForRoute(router, deps);
  revokeAnyKeyRoute(router, deps);
  listAllTasksRoute(router, deps);
  showTaskRoute(router, deps);
  cancelAnyTaskRoute(router, deps);
  listFailedCallbacksRoute(router, deps);
  redeliverAnyCallbackRoute(router, deps);
  listActionsRoute(router, deps);
}
