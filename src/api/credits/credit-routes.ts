import { z } from 'zod';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { findAccount } from '../../accounts/accounts.ts';
import {
  bookCreditsAs,
  type Booking,
  readBalanceAndEntries,
  type LedgerEntry,
  ledgerKinds,
} from '../../credits/ledger/ledger-entries-and-book-credits.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { EndpointCall, WithDb } from '../core/endpoint-spec.ts';
import { requireExisting, HttpError } from '../core/http-error.ts';
import { requireDayRange, maxReportDays } from './usage-report-routes.ts';
import { idField, maxCredits, reasonField, wholeNumberField, maxUnixMs, oneOf } from '../core/request-fields.ts';
import {
  cutPage,
  dayParameter,
  idParameter,
  nextCursorSchema,
  numericIdPageParameters,
  strictQuery,
  wholeNumberParameter,
} from '../core/query-parameters.ts';
import { replayedHeader, requireIdempotencyKey, requiredIdempotencyKeyHeader } from '../core/idempotency-key.ts';
import { creditBalanceSchema, ledgerEntrySchema, presentLedgerEntry } from '../accounts/ledger-entry-view.ts';
import { listUsageByDayAndPrice, type UsageByDayAndPrice } from '../../credits/reports/account-usage-and-summary.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { streamCsvDownload, csvAnswerDeclaration, type CsvColumn, readPages } from '../core/csv-answer.ts';

const booksFilter = {
  kind: oneOf(ledgerKinds).optional(),
  taskId: idParameter('a task').meta({ description: 'The charge and refund of this task.' }).optional(),
  from: wholeNumberParameter(0, maxUnixMs)
    .meta({ description: 'Booked at this Unix millisecond or later.' })
    .optional(),
  to: wholeNumberParameter(0, maxUnixMs).meta({ description: 'Booked before this Unix millisecond.' }).optional(),
};

const maxRows = 1_000_000;
const pageSize = 2_000;

const exportCredits = defineEndpoint({
  operationId: 'exportCredits',
  route: 'GET /api/v1/credits/export',
  scope: 'credits:read',
  summary: 'Export the ledger as CSV',
  description:
    `Returns UTF-8 with a header line, newest entry first, at most ${maxRows} entries. Times are ISO 8601 in UTC. Text that a spreadsheet ` +
    "would read as a formula is prefixed with `'`.",
  query: strictQuery(booksFilter),
  ...csvAnswerDeclaration,
  handler: ({ caller: { accountId }, query, ctx }, { db }) => {
    const { from: fromMs, to: toMs, kind, taskId } = query;
    const filter = { accountId, kind, taskId, fromMs, toMs, limit: pageSize };
    const read = async (last?: LedgerEntry) =>
      (await readBalanceAndEntries(db, { ...filter, before: last?.entryId })).entries;
    return streamCsvDownload(ctx, 'credits.csv', columns, readPages(read, { pageSize, maxRows }));
  },
});

const columns: readonly CsvColumn<LedgerEntry>[] = [
  ['entryId', ({ entryId }) => entryId],
  ['createTime', ({ createdAt }) => new Date(createdAt).toISOString()],
  ['kind', ({ kind }) => kind],
  ['amount', ({ amount }) => amount],
  ['balanceAfter', ({ balanceAfter }) => balanceAfter],
  ['taskId', ({ taskId }) => taskId],
  ['priceName', ({ priceName }) => priceName],
  ['reason', ({ reason }) => reason],
];

const credits = z.int().nonnegative();

export const usageDaySchema = z
  .strictObject({
    day: z.iso.date().meta({ description: 'A day in UTC.' }),
    model: z.string().nullable().meta({ description: 'Null for grants and adjustments.' }),
    priceName: z.string().nullable().meta({ description: 'The price of the model; null for grants and adjustments.' }),
    charged: credits,
    refunded: credits,
    granted: z.int().meta({ description: 'Grants and adjustments; may be negative.' }),
    tasks: credits.meta({ description: 'Tasks created.' }),
  })
  .meta({ id: 'UsageDay' });

export function presentUsageDay(day: UsageByDayAndPrice) {
  return pickRowFieldsBySchema(usageDaySchema, day);
}

const booksFields = {
  balance: creditBalanceSchema,
  entries: z.array(ledgerEntrySchema),
  nextCursor: nextCursorSchema,
};

const booksPage = { ...booksFilter, ...numericIdPageParameters };
const booksQuery = strictQuery(booksPage);

async function presentBooks({ db }: WithDb, accountId: string, query: z.output<typeof booksQuery>) {
  const { cursor: before, limit, from: fromMs, to: toMs, kind, taskId } = query;
  const filter = { accountId, kind, taskId, fromMs, toMs, before, limit: limit + 1 };
  const { balance, entries } = await readBalanceAndEntries(db, filter);
  const { page, nextCursor } = cutPage(entries, limit, ({ entryId }) => String(entryId));
  return { balance, entries: page.map(presentLedgerEntry), nextCursor };
}

const listed = 'Lists entries newest first. Balance and entries come from one snapshot.';

export const getBalanceAndLedger = defineEndpoint({
  operationId: 'getCredits',
  route: 'GET /api/v1/credits',
  scope: 'credits:read',
  summary: 'Get the balance and the ledger',
  description: listed,
  query: booksQuery,
  data: z.strictObject(booksFields),
  handler: ({ caller, query }, deps) => presentBooks(deps, caller.accountId, query),
});

const daily = defineEndpoint({
  operationId: 'listDailyCredits',
  route: 'GET /api/v1/credits/daily',
  scope: 'credits:read',
  summary: 'List charges and refunds by day, model and price',
  description:
    `Both days are included, in UTC, at most ${maxReportDays} days. Charges count on the day of the create, refunds on the day of the end of the task. ` +
    'Days without entries are omitted.',
  query: strictQuery({ from: dayParameter, to: dayParameter }),
  data: z.strictObject({ days: z.array(usageDaySchema) }),
  handler: async ({ caller: { accountId }, query }, { db }) => {
    const { from, to } = requireDayRange(query);
    const days = await listUsageByDayAndPrice(db, {
      accountId,
      fromMs: Date.parse(from),
      toMs: Date.parse(to) + dayMs,
    });
    return { days: days.map(presentUsageDay) };
  },
});

const adminShow = defineEndpoint({
  operationId: 'adminShowCredits',
  route: 'GET /api/admin/v1/credits',
  summary: 'Get the balance and the ledger of an account',
  description: listed,
  query: strictQuery({ accountId: idParameter('an account'), ...booksPage }),
  data: z.strictObject({ accountId: z.string(), ...booksFields }),
  failures: ['account_not_found'],
  handler: async ({ query }, deps) => {
    const { accountId } = requireExisting(await findAccount(deps.db, query.accountId), 'account_not_found');
    return { accountId, ...(await presentBooks(deps, accountId, query)) };
  },
});

const bookingSpec = {
  headers: requiredIdempotencyKeyHeader,
  data: z.strictObject({ accountId: z.string(), entry: ledgerEntrySchema }),
  answerHeaders: replayedHeader,
  failures: ['account_not_found', 'balance_out_of_range', 'idempotency_key_reused'],
} as const;

const grant = defineEndpoint({
  operationId: 'adminGrantCredits',
  route: 'POST /api/admin/v1/credits/grant',
  needsRecentProof: true,
  summary: 'Grant credits to an account',
  description:
    'Adds purchased or free credits. Repeating a request with the same `Idempotency-Key` returns the first response. The ledger shows the ' +
    'reason to the account. For a closed account, use an adjustment.',
  body: z.strictObject({
    accountId: idField('an account'),
    credits: wholeNumberField(1, maxCredits),
    reason: reasonField,
  }),
  ...bookingSpec,
  failures: [...bookingSpec.failures, 'account_closed'],
  handler: (call, deps) => {
    const { credits: amount, ...input } = call.input;
    return bookCredits(call, deps, { kind: 'grant', amount, ...input });
  },
});

const amountError = `must be a whole number from -${maxCredits} to ${maxCredits}, but not 0`;

const adjust = defineEndpoint({
  operationId: 'adminAdjustCredits',
  route: 'POST /api/admin/v1/credits/adjust',
  needsRecentProof: true,
  summary: 'Adjust the balance of an account',
  description:
    'Corrects the balance up or down, but not below zero. Repeating a request with the same `Idempotency-Key` returns the first response. ' +
    'The ledger shows the reason to the account.',
  body: z.strictObject({
    accountId: idField('an account'),
    amount: wholeNumberField(-maxCredits, maxCredits, amountError).refine((amount) => amount !== 0),
    reason: reasonField,
  }),
  ...bookingSpec,
  handler: (call, deps) => bookCredits(call, deps, { kind: 'adjustment', ...call.input }),
});

async function bookCredits(
  { actor, ctx }: Pick<EndpointCall<'operator', undefined, undefined>, 'actor' | 'ctx'>,
  { db }: WithDb,
  booking: Omit<Booking, 'idempotencyKey'>,
) {
  const outcome = await bookCreditsAs(db, actor, { ...booking, idempotencyKey: requireIdempotencyKey(ctx) });
  if (outcome.kind === 'account_not_found') throw new HttpError('account_not_found');
  if (outcome.kind === 'key_reused') throw new HttpError('idempotency_key_reused');
  if (outcome.kind === 'balance_out_of_range') {
    const msg = `the balance would fall below zero or exceed its maximum; it is ${outcome.balance} credits`;
    throw new HttpError('balance_out_of_range', { msg, data: { balance: outcome.balance } });
  }
  if (outcome.kind === 'replayed') ctx.set('Idempotency-Replayed', 'true');
  return { accountId: booking.accountId, entry: presentLedgerEntry(outcome.entry) };
}

export const creditEndpoints = [getBalanceAndLedger, daily, exportCredits];
export const operatorCreditEndpoints = [adminShow, grant, adjust];
