import type { Router } from '@koa/router';
import { z } from 'zod';
import { revokeAccountKey } from '../../stores/account-keys.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { isKeyId, keyIdSchema } from '../key-schema.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

const body = z.strictObject({ keyId: keyIdSchema });
type Input = z.output<typeof body>;

export const revokeKeyOperation: Operation = {
  operationId: 'revokeKey',
  method: 'post',
  path: '/api/v1/keys/revoke',
  tag: 'keys',
  summary: 'Revoke a key',
  description: 'Counts from the next request on, for good. A key may revoke itself. Repeating it changes nothing.',
  key: 'keys:write',
  body: () => body,
  data: z.strictObject({ keyId: z.string(), revokeTime: z.int() }),
  failures: [...keyFailures, ...bodyFailures, 'no_such_key'],
};

/** `POST /api/v1/keys/revoke {keyId}`. Also a suspended account may: it can only make things safer. */
export function revokeKeyRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    revokeKeyOperation.path,
    checkAnswers(revokeKeyOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('keys:write'),
    readJson,
    validateBody(body),
    (ctx) => revokeKey(ctx, deps),
  );
}

async function revokeKey(ctx: Context<WithCaller & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const { keyId } = input;
  const revokeTime = isKeyId(keyId) ? await revokeAccountKey(db, caller.accountId, keyId) : undefined;
  if (revokeTime === undefined) throw new HttpFailure('no_such_key');
  succeed(ctx, { keyId, revokeTime });
}
