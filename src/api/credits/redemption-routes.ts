import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import {
  notFutureTimeMessage,
  idField,
  maxCredits,
  maxUnixMs,
  oneLineTextField,
  reasonField,
  unixMsSchema,
  wholeNumberField,
} from '../core/request-fields.ts';
import { limitCodeAttempts, type RateLimiter } from '../core/limits/rate-limits.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../accounts/ledger-entry-view.ts';
import {
  type CodeBatch,
  createCodesAs,
  listCodeBatches,
  maxCodesOfBatch,
  redeemCode,
  withdrawCodesAs,
} from '../../credits/ledger/redemption-codes.ts';

const redeem = defineEndpoint({
  operationId: 'redeemCode',
  route: 'POST /api/console/v1/credits/redeem',
  scope: 'owner',
  summary: 'Redeem a code',
  description:
    'Grants the credits of a code to the account, once. Repeating the request returns the same entry. Unknown, used, expired and withdrawn ' +
    'codes get the same error, and the number of failed attempts is limited.',
  body: z.strictObject({ code: oneLineTextField(64) }),
  data: z.strictObject({
    entry: ledgerEntrySchema,
    isRepeat: z.boolean().meta({ description: 'The account redeemed the code before, so nothing was added now.' }),
  }),
  failures: ['code_invalid', 'too_many_code_attempts', 'balance_out_of_range', 'account_closed'],
  handler: async (
    { accountId, session, input: { code } },
    { db, codeAttempts }: WithDb & { readonly codeAttempts: RateLimiter },
  ) => {
    const redemption = await limitCodeAttempts(codeAttempts, session.userId, {
      check: () => redeemCode(db, accountId, code),
      isInvalid: ({ kind }) => kind === 'code_invalid',
    });
    if (redemption.kind === 'code_invalid') throw new HttpError('code_invalid');
    if (redemption.kind === 'balance_out_of_range') {
      throw new HttpError('balance_out_of_range', { data: { balance: redemption.balance } });
    }
    return { entry: presentLedgerEntry(redemption.entry), isRepeat: redemption.isRepeat };
  },
});

const batchSchema = z
  .strictObject({
    batchId: z.string(),
    name: z.string(),
    credits: z.int().positive().meta({ description: 'The credits of each code.' }),
    codes: z.int().positive(),
    redeemed: z.int().nonnegative(),
    createTime: unixMsSchema,
    expireTime: unixMsSchema.nullable(),
    withdrawTime: unixMsSchema.nullable(),
  })
  .meta({ id: 'CodeBatch' });

export function presentCodeBatch(batch: CodeBatch) {
  const { createdAt: createTime, expiresAt: expireTime, withdrawnAt: withdrawTime } = batch;
  return pickRowFieldsBySchema(batchSchema, { ...batch, createTime, expireTime, withdrawTime });
}

const create = defineEndpoint({
  operationId: 'adminCreateCodes',
  route: 'POST /api/admin/v1/codes',
  needsRecentProof: true,
  summary: 'Create redemption codes',
  description: 'Creates a batch of codes, each of which grants credits once, and returns them once.',
  body: z.strictObject({
    name: oneLineTextField(100).meta({ description: 'Shown in the ledger of accounts that redeem one.' }),
    credits: wholeNumberField(1, maxCredits),
    codes: wholeNumberField(1, maxCodesOfBatch),
    expireTime: z.int({ error: notFutureTimeMessage }).max(maxUnixMs, { error: notFutureTimeMessage }).nullish(),
  }),
  data: z.strictObject({ batchId: z.string(), codes: z.array(z.string()).max(maxCodesOfBatch) }),
  handler: ({ actor, input: { expireTime, ...batch } }, { db, now }: WithDb & WithClock) => {
    const expiresAt = expireTime ?? undefined;
    if (expiresAt !== undefined && expiresAt <= now()) {
      throw invalidRequest([{ path: 'expireTime', message: notFutureTimeMessage }]);
    }
    return createCodesAs(db, actor, { ...batch, expiresAt });
  },
});

const maxListed = 1_000;

const list = defineEndpoint({
  operationId: 'adminListCodes',
  route: 'GET /api/admin/v1/codes',
  summary: 'List batches of redemption codes',
  description: `Lists the newest ${maxListed} batches.`,
  data: z.strictObject({ batches: z.array(batchSchema).max(maxListed) }),
  handler: async (_call, { db }) => ({ batches: (await listCodeBatches(db, maxListed)).map(presentCodeBatch) }),
});

const withdraw = defineEndpoint({
  operationId: 'adminWithdrawCodes',
  route: 'POST /api/admin/v1/codes/withdraw',
  summary: 'Withdraw redemption codes',
  description: 'Withdraws the codes of a batch that were not redeemed yet. Idempotent.',
  body: z.strictObject({ batchId: idField('a batch of codes'), reason: reasonField }),
  data: batchSchema,
  failures: ['code_batch_not_found'],
  handler: async ({ actor, input }, { db }) =>
    presentCodeBatch(requireExisting(await withdrawCodesAs(db, actor, input), 'code_batch_not_found')),
});

export const redemptionEndpoints = [redeem];
export const operatorRedemptionEndpoints = [create, list, withdraw];
