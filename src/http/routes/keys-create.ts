import type { Router } from '@koa/router';
import { z } from 'zod';
import { ordinaryScopes, type Scope } from '../../domain/api-key.ts';
import { createAccountKey, maxActiveKeys } from '../../stores/account-keys.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { invalidRequest } from '../invalid-request.ts';
import { futureTime, keySchema, secretSchema, shownKey, wantedKeyFields } from '../key-schema.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { refuseSuspended } from '../middleware/refuse-suspended.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

const body = z.strictObject({
  ...wantedKeyFields,
  scopes: wantedKeyFields.scopes.meta({
    description: 'Those of the calling key at most; without them all of those but `keys:write`.',
  }),
});
type Input = z.output<typeof body>;

export const createKeyOperation: Operation = {
  operationId: 'createKey',
  method: 'post',
  path: '/api/v1/keys',
  tag: 'keys',
  summary: 'Make a key',
  description: `Shows the new key, this once. A key can never grant more scopes than it has itself. At most ${maxActiveKeys} keys of an account are active.`,
  key: 'keys:write',
  body: () => body,
  data: keySchema.extend({ key: secretSchema }).meta({ id: 'NewApiKey' }),
  failures: [...keyFailures, ...bodyFailures, 'account_suspended', 'too_many_keys'],
};

/** `POST /api/v1/keys {name, scopes?, dialect?, expireTime?}`. */
export function createKeyRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    createKeyOperation.path,
    checkAnswers(createKeyOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('keys:write'),
    refuseSuspended,
    readJson,
    validateBody(body),
    (ctx) => createKey(ctx, deps),
  );
}

async function createKey(ctx: Context<WithCaller & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const wanted = wantedScopes(input.scopes, caller.scopes);
  const expiresAt = futureTime(input.expireTime, (deps.now ?? Date.now)());
  const { accountId } = caller;
  const { name, dialect } = input;
  const made = await createAccountKey(deps.db, {
    accountId,
    name,
    scopes: wanted,
    dialect: dialect ?? 'native',
    expiresAt,
  });
  if (made.kind === 'too_many_keys') throw new HttpFailure('too_many_keys', { data: { limit: maxActiveKeys } });
  succeed(ctx, { ...shownKey(made.shown), key: made.key });
}

/** Without a wish: all that the caller may, but not to make keys in turn. Throws for a scope that the caller has not. */
function wantedScopes(wished: readonly Scope[] | null | undefined, own: readonly Scope[]): readonly Scope[] {
  const wanted = [...new Set(wished ?? ordinaryScopes.filter((scope) => own.includes(scope)))];
  const missing = wanted.find((scope) => !own.includes(scope));
  if (missing !== undefined) {
    throw new HttpFailure('scope_missing', { msg: `the API key lacks the scope ${missing}, so it cannot grant it` });
  }
  if (wanted.length === 0)
    throw invalidRequest([{ path: 'scopes', message: 'is required: this key has only keys:write' }]);
  return wanted;
}
