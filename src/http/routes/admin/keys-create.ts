import type { Router } from '@koa/router';
import { z } from 'zod';
import { ordinaryScopes } from '../../../domain/api-key.ts';
import { maxActiveKeys } from '../../../stores/account-keys.ts';
import { createKeyAs } from '../../../stores/operator-keys.ts';
import { succeed } from '../../envelope.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { HttpFailure } from '../../http-failure.ts';
import { futureTime, keySchema, secretSchema, shownKey, wantedKeyFields } from '../../key-schema.ts';
import { actorOf, authenticateOperator } from '../../middleware/authenticate-operator.ts';
import { checkAnswers } from '../../middleware/check-answers.ts';
import { readJson } from '../../middleware/read-json.ts';
import { validateBody, type WithInput } from '../../middleware/validate-body.ts';
import { bodyFailures, type Operation, operatorFailures } from '../../operation.ts';
import { idField } from '../../operator-schemas.ts';
import type { Context, Extras, RequestState, WithBody, WithOperator } from '../../request-state.ts';

const body = z.strictObject({
  accountId: idField('an account'),
  ...wantedKeyFields,
  scopes: wantedKeyFields.scopes.meta({ description: 'All of those but `keys:write`, when they are left out.' }),
});
type Input = z.output<typeof body>;

export const createKeyForOperation: Operation = {
  operationId: 'adminCreateKey',
  method: 'post',
  path: '/api/admin/v1/keys',
  tag: 'operators',
  summary: 'Make a key for an account',
  description: `Shows the new key, this once. At most ${maxActiveKeys} keys of an account are active.`,
  key: 'operator',
  body: () => body,
  data: keySchema.extend({ accountId: z.string(), key: secretSchema }).meta({ id: 'NewApiKeyOfAccount' }),
  failures: [...operatorFailures, ...bodyFailures, 'no_such_account', 'too_many_keys'],
};

/** `POST /api/admin/v1/keys {accountId, name, scopes?, dialect?, expireTime?}`. */
export function createKeyForRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithOperator & WithBody & WithInput<Input>>(
    createKeyForOperation.path,
    checkAnswers(createKeyForOperation, deps.checkAnswers),
    authenticateOperator(deps),
    readJson,
    validateBody(body),
    (ctx) => createKey(ctx, deps),
  );
}

async function createKey(ctx: Context<WithOperator & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const { accountId, name, scopes, dialect, expireTime } = ctx.state.input;
  const expiresAt = futureTime(expireTime, (deps.now ?? Date.now)());
  const wanted = {
    accountId,
    name,
    scopes: [...new Set(scopes ?? ordinaryScopes)],
    dialect: dialect ?? ('native' as const),
    expiresAt,
  };
  const made = await createKeyAs(deps.db, actorOf(ctx), wanted);
  if (made === undefined) throw new HttpFailure('no_such_account');
  if (made.kind === 'too_many_keys') throw new HttpFailure('too_many_keys', { data: { limit: maxActiveKeys } });
  succeed(ctx, { accountId, ...shownKey(made.shown), key: made.key });
}
