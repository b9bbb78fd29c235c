import { openAccountAs } from '../../credits/open-account.ts';
import { z } from 'zod';
import {
  accountState,
  accountStates,
  maxKeysAndTasksCounted,
  countKeysAndTasks,
  listAccounts,
} from '../../accounts/account-list.ts';
import { type Account, findAccount, changeAccountLimitsAs, setAccountSuspendedAs } from '../../accounts/accounts.ts';
import { renameAccountAs } from '../../accounts/rename-account.ts';
import { closeAccountAs } from '../../tasks/end/close-account-rows.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import {
  idField,
  isOneLine,
  maxCredits,
  oneOf,
  oneLineTextField,
  reasonField,
  unixMsSchema,
  wholeNumberField,
} from '../core/request-fields.ts';
import {
  cutPage,
  idPageParameters,
  idParameter,
  nextCursorSchema,
  strictQuery,
  textParameter,
} from '../core/query-parameters.ts';
import { creditBalanceSchema, presentRequestRate, requestRateSchema } from './ledger-entry-view.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { requireExisting } from '../core/http-error.ts';

const accountSchema = z
  .strictObject({
    accountId: z.string(),
    name: z.string(),
    balance: creditBalanceSchema,
    unfinishedTasks: z.int().nonnegative(),
    maxUnfinishedTasks: z.int().nonnegative(),
    creates: requestRateSchema.meta({
      description: "The account's own rate of creates; null for the default.",
    }),
    suspendTime: unixMsSchema.nullable(),
    closeTime: unixMsSchema.nullable(),
    createTime: unixMsSchema,
  })
  .meta({ id: 'Account' });

export function presentAccount(account: Account) {
  const { createRate, suspendedAt: suspendTime, closedAt: closeTime, createdAt: createTime } = account;
  return pickRowFieldsBySchema(accountSchema, {
    ...account,
    creates: presentRequestRate(createRate),
    suspendTime,
    closeTime,
    createTime,
  });
}

const searchError = 'must be at most 200 characters on one line';

const listAll = defineEndpoint({
  operationId: 'adminListAccounts',
  route: 'GET /api/admin/v1/accounts',
  summary: 'List accounts',
  description: 'Sorted by name, case-insensitively.',
  query: strictQuery({
    search: textParameter(searchError)
      .max(200)
      .refine(isOneLine)
      .meta({ description: 'The beginning of the name, case-insensitive, or an account id.' })
      .optional(),
    state: oneOf(accountStates).optional(),
    ...idPageParameters,
  }),
  data: z.strictObject({ accounts: z.array(accountSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { search: prefix, state, cursor: after, limit } }, { db }) => {
    const { data: accountId } = z.uuid().safeParse(prefix);
    const found =
      accountId === undefined
        ? await listAccounts(db, { prefix, state, after, limit: limit + 1 })
        : [(await findAccount(db, accountId)) ?? []]
            .flat()
            .filter((account) => state === undefined || accountState(account) === state);
    const { page, nextCursor } = cutPage(found, limit, (account) => account.accountId);
    return { accounts: page.map(presentAccount), nextCursor };
  },
});

const count = z.int().min(0).max(maxKeysAndTasksCounted);
const countsSchema = z.strictObject({
  activeKeys: count,
  waiting: count,
  queuing: count,
  generating: count,
  tasks: count.meta({ description: `All tasks ever created. Counts stop at ${maxKeysAndTasksCounted}.` }),
});

const showOne = defineEndpoint({
  operationId: 'adminShowAccount',
  route: 'GET /api/admin/v1/accounts/show',
  summary: 'Get an account and its counts',
  query: strictQuery({ accountId: idParameter('an account') }),
  data: z.strictObject({ account: accountSchema, counts: countsSchema }),
  failures: ['account_not_found'],
  handler: async ({ query: { accountId } }, { db }) => {
    const account = requireExisting(await findAccount(db, accountId), 'account_not_found');
    return { account: presentAccount(account), counts: await countKeysAndTasks(db, accountId) };
  },
});

const open = defineEndpoint({
  operationId: 'adminCreateAccount',
  route: 'POST /api/admin/v1/accounts',
  needsRecentProof: true,
  summary: 'Create an account',
  description: 'The account has no key. Names need not be unique: repeating the request creates another account.',
  body: z.strictObject({
    name: oneLineTextField(200),
    credits: wholeNumberField(0, maxCredits).default(0).meta({ description: 'The opening balance.' }),
  }),
  data: accountSchema,
  handler: async ({ actor, input }, { db }) => presentAccount(await openAccountAs(db, actor, input)),
});

const suspension = {
  body: z.strictObject({ accountId: idField('an account'), reason: reasonField }),
  data: accountSchema,
  failures: ['account_not_found', 'account_closed'],
} as const;

const suspend = defineEndpoint({
  operationId: 'adminSuspendAccount',
  route: 'POST /api/admin/v1/accounts/suspend',
  summary: 'Suspend an account',
  description:
    'The account can no longer create tasks, keys, uploads, share links or test callbacks, nor buy credits, and its shared pages show ' +
    'nothing. It can still read and cancel, and its unfinished tasks continue. The console shows the reason to its members. Idempotent.',
  ...suspension,
  handler: ({ actor, input }, { db }) => changeSuspension(db, actor, { ...input, suspended: true }),
});

const unsuspend = defineEndpoint({
  operationId: 'adminUnsuspendAccount',
  route: 'POST /api/admin/v1/accounts/unsuspend',
  summary: 'Lift the suspension of an account',
  description: 'Takes effect immediately. Idempotent.',
  ...suspension,
  handler: ({ actor, input }, { db }) => changeSuspension(db, actor, { ...input, suspended: false }),
});

async function changeSuspension(...change: Parameters<typeof setAccountSuspendedAs>) {
  return presentAccount(requireExisting(await setAccountSuspendedAs(...change), 'account_not_found'));
}

const close = defineEndpoint({
  operationId: 'adminCloseAccount',
  route: 'POST /api/admin/v1/accounts/close',
  needsRecentProof: true,
  summary: 'Close an account and delete the content of its tasks',
  description:
    'Suspends the account permanently, revokes its keys and removes its members. Within minutes, its unfinished tasks are cancelled and ' +
    'refunded, and prompts, images, videos and callbacks of all its tasks are deleted. The ledger and the records of tasks stay. No more ' +
    'callbacks are sent. Idempotent.',
  ...suspension,
  failures: ['account_not_found'],
  handler: async ({ actor, input }, { db }) =>
    presentAccount(requireExisting(await closeAccountAs(db, actor, input), 'account_not_found')),
});

const limit = defineEndpoint({
  operationId: 'adminLimitAccount',
  route: 'POST /api/admin/v1/accounts/limits',
  summary: 'Set limits of an account',
  description: 'Takes effect with the next create. Omitted limits stay unchanged.',
  body: z.strictObject({
    accountId: idField('an account'),
    maxUnfinishedTasks: wholeNumberField(0, 1_000_000).optional(),
    creates: z
      .strictObject({ quota: wholeNumberField(1, 1_000_000), windowSeconds: wholeNumberField(1, 86_400) })
      .nullable()
      .optional()
      .meta({ description: 'Null for the default rate.' }),
  }),
  data: accountSchema,
  failures: ['account_not_found', 'account_closed'],
  handler: async ({ actor, input: { accountId, maxUnfinishedTasks, creates } }, { db }) => {
    const createRate = creates && { quota: creates.quota, windowMs: creates.windowSeconds * 1000 };
    const account = await changeAccountLimitsAs(db, actor, { accountId, maxUnfinishedTasks, createRate });
    return presentAccount(requireExisting(account, 'account_not_found'));
  },
});

const rename = defineEndpoint({
  operationId: 'adminRenameAccount',
  route: 'POST /api/admin/v1/accounts/rename',
  summary: 'Rename an account',
  description: 'Names need not be unique.',
  body: z.strictObject({ accountId: idField('an account'), name: oneLineTextField(200) }),
  data: accountSchema,
  failures: ['account_not_found', 'account_closed'],
  handler: async ({ actor, input }, { db }) =>
    presentAccount(requireExisting(await renameAccountAs(db, actor, input), 'account_not_found')),
});

export const operatorAccountEndpoints = [listAll, showOne, open, rename, suspend, unsuspend, limit, close];
