import { z } from 'zod';
import { countLimit, countOfAccount, listAccounts } from '../../stores/account-list.ts';
import {
  type Account,
  findAccount,
  limitAccountAs,
  openAccountAs,
  renameAccountAs,
  suspendAccountAs,
} from '../../stores/accounts.ts';
import { closeAccountAs } from '../../stores/account-closure.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { idField, isOneLine, maxCredits, plainText, reasonField, unixMs, wholeNumber } from '../fields.ts';
import { cutPage, idPage, idParameter, nextCursorSchema, strictQuery, textParameter } from '../query.ts';
import { presentRate, rateSchema } from '../presenters/account.ts';
import { view } from '../presenters/view.ts';
import { existing } from '../errors.ts';

/** An account as operators see it. */
const accountSchema = z
  .strictObject({
    accountId: z.string(),
    name: z.string(),
    balance: z.int().nonnegative(),
    unfinishedTasks: z.int().nonnegative(),
    maxUnfinishedTasks: z.int().nonnegative(),
    creates: rateSchema.meta({
      description: "The account's own rate of creates; null when the installation's counts.",
    }),
    suspendTime: unixMs.nullable(),
    closeTime: unixMs.nullable(),
    createTime: unixMs,
  })
  .meta({ id: 'Account' });

function presentAccount(account: Account) {
  const { createRate, suspendedAt: suspendTime, closedAt: closeTime, createdAt: createTime } = account;
  return view(accountSchema, { ...account, creates: presentRate(createRate), suspendTime, closeTime, createTime });
}

const searchError = 'must be at most 200 characters, and plain text';

const listAll = defineEndpoint({
  operationId: 'adminListAccounts',
  route: 'GET /api/admin/v1/accounts',
  summary: 'List the accounts',
  description: 'By name, without regard to case.',
  query: strictQuery({
    search: textParameter(searchError)
      .max(200)
      .refine(isOneLine)
      .meta({ description: 'How the name begins, in any case; or the id of an account.' })
      .optional(),
    suspended: z
      .enum(['true', 'false'], { error: 'must be true or false' })
      .transform((text) => text === 'true')
      .meta({ type: 'boolean' })
      .optional(),
    ...idPage,
  }),
  data: z.strictObject({ accounts: z.array(accountSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { search: prefix, suspended, cursor: after, limit } }, { db }) => {
    const { data: accountId } = z.uuid().safeParse(prefix);
    const found =
      accountId === undefined
        ? await listAccounts(db, { prefix, suspended, after, limit: limit + 1 })
        : [(await findAccount(db, accountId)) ?? []].flat().filter((account) => isWanted(account, suspended));
    const { page, nextCursor } = cutPage(found, limit, (account) => account.accountId);
    return { accounts: page.map(presentAccount), nextCursor };
  },
});

function isWanted({ suspendedAt }: Account, suspended: boolean | undefined): boolean {
  return suspended === undefined || suspended === (suspendedAt !== undefined);
}

const count = z.int().min(0).max(countLimit);
const countsSchema = z.strictObject({
  activeKeys: count,
  waiting: count,
  queuing: count,
  generating: count,
  tasks: count.meta({ description: `All tasks there ever were; counted up to ${countLimit}, as the others are.` }),
});

const showOne = defineEndpoint({
  operationId: 'adminShowAccount',
  route: 'GET /api/admin/v1/accounts/show',
  summary: 'One account, with its counts',
  query: strictQuery({ accountId: idParameter('an account') }),
  data: z.strictObject({ account: accountSchema, counts: countsSchema }),
  failures: ['account_not_found'],
  handler: async ({ query: { accountId } }, { db }) => {
    const account = existing(await findAccount(db, accountId), 'account_not_found');
    return { account: presentAccount(account), counts: await countOfAccount(db, accountId) };
  },
});

const open = defineEndpoint({
  operationId: 'adminCreateAccount',
  route: 'POST /api/admin/v1/accounts',
  needsRecentProof: true,
  summary: 'Open an account',
  description: 'It has no key yet. Two accounts may have one name; repeating the request opens another one.',
  body: z.strictObject({
    name: plainText(200),
    credits: wholeNumber(0, maxCredits)
      .default(0)
      .meta({ description: 'Opening credits, the first entry of the ledger.' }),
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
    'It may create no more tasks and no keys, from the next request on. It may go on reading, and what it has paid for is ' +
    'finished. Suspending it again changes nothing. Its members are shown the reason in the console.',
  ...suspension,
  handler: ({ actor, input }, { db }) => changeSuspension(db, actor, { ...input, suspended: true }),
});

const unsuspend = defineEndpoint({
  operationId: 'adminUnsuspendAccount',
  route: 'POST /api/admin/v1/accounts/unsuspend',
  summary: 'Lift the suspension of an account',
  description: 'Counts from the next request on. An account that is not suspended stays as it is.',
  ...suspension,
  handler: ({ actor, input }, { db }) => changeSuspension(db, actor, { ...input, suspended: false }),
});

async function changeSuspension(...change: Parameters<typeof suspendAccountAs>) {
  return presentAccount(existing(await suspendAccountAs(...change), 'account_not_found'));
}

const close = defineEndpoint({
  operationId: 'adminCloseAccount',
  route: 'POST /api/admin/v1/accounts/close',
  needsRecentProof: true,
  summary: 'Close an account for good, and delete what its tasks were about',
  description:
    'It is suspended and cannot be opened again, its keys are revoked, its members are taken out. Within minutes its unfinished tasks ' +
    'are cancelled and refunded, and the prompts, images, videos and callbacks of all its tasks are deleted. The ledger and the ' +
    'skeletons of tasks stay. No callback is sent any more. May be repeated.',
  ...suspension,
  failures: ['account_not_found'],
  handler: async ({ actor, input }, { db }) =>
    presentAccount(existing(await closeAccountAs(db, actor, input), 'account_not_found')),
});

const limit = defineEndpoint({
  operationId: 'adminLimitAccount',
  route: 'POST /api/admin/v1/accounts/limits',
  summary: 'Give an account limits of its own',
  description: 'Counts from the next create on. What is left out stays as it is.',
  body: z.strictObject({
    accountId: idField('an account'),
    maxUnfinishedTasks: wholeNumber(0, 1_000_000).optional(),
    creates: z
      .strictObject({ quota: wholeNumber(1, 1_000_000), windowSeconds: wholeNumber(1, 86_400) })
      .nullable()
      .optional()
      .meta({ description: "So many creates in so many seconds; null for the installation's rate." }),
  }),
  data: accountSchema,
  failures: ['account_not_found', 'account_closed'],
  handler: async ({ actor, input: { accountId, maxUnfinishedTasks, creates } }, { db }) => {
    const createRate = creates && { quota: creates.quota, windowMs: creates.windowSeconds * 1000 };
    const account = await limitAccountAs(db, actor, { accountId, maxUnfinishedTasks, createRate });
    return presentAccount(existing(account, 'account_not_found'));
  },
});

const rename = defineEndpoint({
  operationId: 'adminRenameAccount',
  route: 'POST /api/admin/v1/accounts/rename',
  summary: 'Rename an account',
  description: 'Two accounts may have the same name.',
  body: z.strictObject({ accountId: idField('an account'), name: plainText(200) }),
  data: accountSchema,
  failures: ['account_not_found', 'account_closed'],
  handler: async ({ actor, input }, { db }) =>
    presentAccount(existing(await renameAccountAs(db, actor, input), 'account_not_found')),
});

export const accountEndpoints = [listAll, showOne, open, rename, suspend, unsuspend, limit, close];
