import type { Router } from '@koa/router';
import { z } from 'zod';
import { maxActiveKeys, rotateAccountKey, type RotationOutcome } from '../../stores/account-keys.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { isKeyId, keyIdSchema, keySchema, secretSchema, shownKey } from '../key-schema.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { refuseSuspended } from '../middleware/refuse-suspended.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';

const defaultOverlapSeconds = 24 * 60 * 60;
const maxOverlapSeconds = 30 * 24 * 60 * 60;
const overlapError = `must be a whole number from 0 to ${maxOverlapSeconds}`;

const body = z.strictObject({
  keyId: keyIdSchema,
  overlapSeconds: z
    .int({ error: overlapError })
    .min(0, { error: overlapError })
    .max(maxOverlapSeconds, { error: overlapError })
    .default(defaultOverlapSeconds),
});
type Input = z.output<typeof body>;

export const rotateKeyOperation: Operation = {
  operationId: 'rotateKey',
  method: 'post',
  path: '/api/v1/keys/rotate',
  tag: 'keys',
  summary: 'Replace a key',
  description:
    'Makes a key with the same name, scopes, dialect and length of life, and shows it, this once. The old key lives on for ' +
    '`overlapSeconds` (a day unless given), so that whoever uses it can change over. A key with more scopes than the ' +
    'calling one cannot be rotated by it.',
  key: 'keys:write',
  body: () => body,
  data: keySchema
    .extend({ key: secretSchema, oldKeyId: z.string(), oldExpireTime: z.int() })
    .meta({ id: 'RotatedApiKey' }),
  failures: [...keyFailures, ...bodyFailures, 'account_suspended', 'no_such_key', 'key_not_active', 'too_many_keys'],
};

/** `POST /api/v1/keys/rotate {keyId, overlapSeconds?}`. */
export function rotateKeyRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    rotateKeyOperation.path,
    checkAnswers(rotateKeyOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('keys:write'),
    refuseSuspended,
    readJson,
    validateBody(body),
    (ctx) => rotateKey(ctx, deps),
  );
}

async function rotateKey(ctx: Context<WithCaller & WithInput<Input>>, { db }: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const { keyId, overlapSeconds } = input;
  if (!isKeyId(keyId)) throw new HttpFailure('no_such_key');
  const { accountId, scopes: within } = caller;
  const { shown, key, oldExpiresAt } = made(await rotateAccountKey(db, { accountId, keyId, within, overlapSeconds }));
  succeed(ctx, { ...shownKey(shown), key, oldKeyId: keyId, oldExpireTime: oldExpiresAt });
}

/** The successor, or the refusal as a failure. */
function made(outcome: RotationOutcome): Extract<RotationOutcome, { kind: 'made' }> {
  switch (outcome.kind) {
    case 'made':
      return outcome;
    case 'too_many_keys':
      throw new HttpFailure('too_many_keys', { data: { limit: maxActiveKeys } });
    case 'scope_missing': {
      const msg = `the API key lacks the scope ${outcome.scope} of the key that it would replace`;
      throw new HttpFailure('scope_missing', { msg });
    }
    case 'no_such_key':
    case 'key_not_active':
      break;
  }
  throw new HttpFailure(outcome.kind);
}
