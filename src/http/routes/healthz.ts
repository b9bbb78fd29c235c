import type { Router } from '@koa/router';
import { succeed } from '../envelope.ts';
import type { Extras, RequestState } from '../request-state.ts';

/** `GET /healthz`: the process lives and answers; says nothing about the parts it depends on. */
export function healthzRoute(router: Router<RequestState, Extras>): void {
  router.get('/healthz', (ctx) => succeed(ctx));
}
