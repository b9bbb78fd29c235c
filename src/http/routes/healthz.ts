import type { Router } from '@koa/router';
import { z } from 'zod';
import { succeed } from '../envelope.ts';
import type { Operation } from '../operation.ts';
import type { Extras, RequestState } from '../request-state.ts';

export const healthzOperation: Operation = {
  operationId: 'healthz',
  method: 'get',
  path: '/healthz',
  tag: 'service',
  summary: 'Whether the process lives',
  key: 'none',
  data: z.strictObject({}),
  failures: [],
};

/** `GET /healthz`: the process lives and answers; says nothing about the parts it depends on. */
export function healthzRoute(router: Router<RequestState, Extras>): void {
  router.get(healthzOperation.path, (ctx) => succeed(ctx));
}
