import type { Router } from '@koa/router';
import { z } from 'zod';
import { listApiKeys } from '../../stores/api-keys.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { keySchema, shownKey } from '../key-schema.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { keyFailures, type Operation } from '../operation.ts';
import type { Extras, RequestState, WithCaller } from '../request-state.ts';

export const listKeysOperation: Operation = {
  operationId: 'listKeys',
  method: 'get',
  path: '/api/v1/keys',
  tag: 'keys',
  summary: "The account's keys",
  description: 'Active keys first, then the newest; revoked and expired ones are listed too. At most 1,000.',
  key: 'keys:write',
  data: z.strictObject({ keys: z.array(keySchema).max(1000) }),
  failures: keyFailures,
};

/** `GET /api/v1/keys`: the keys of the caller's account, without their secrets. */
export function listKeysRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller>(
    listKeysOperation.path,
    checkAnswers(listKeysOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('keys:write'),
    async (ctx) => {
      const keys = await listApiKeys(deps.db, ctx.state.caller.accountId);
      succeed(ctx, { keys: keys.map(shownKey) });
    },
  );
}
