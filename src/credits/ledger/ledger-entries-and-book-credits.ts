import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { AccountClosedError, lockAccount } from '../../accounts/accounts.ts';
import { type Database, violatedUniqueConstraint } from '../../platform/database/database.ts';
import { type AnswerWithAction, changeWithAudit } from '../../accounts/operators/audit-log.ts';
import { pickFieldValues, namedParameters } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne } from '../../platform/database/declare-statements.ts';

/** A failed task is refunded in full; a partial refund is the difference of the price for a video that fell short of its order. */
export const refundKinds = ['refund', 'partial_refund'] as const;
export const ledgerKinds = ['grant', 'charge', ...refundKinds, 'adjustment'] as const;
export type LedgerKind = (typeof ledgerKinds)[number];

/** `amount` is signed: charges are negative. Times are Unix milliseconds. */
export type LedgerEntry = {
  readonly entryId: number;
  readonly taskId: string | undefined;
  /** The price of the charge or of its refund; undefined for all other entries. */
  readonly priceName: string | undefined;
  readonly kind: LedgerKind;
  readonly amount: number;
  readonly balanceAfter: number;
  readonly reason: string | undefined;
  readonly createdAt: number;
};

const entryColumns = `id as "entryId", task_id as "taskId",
  (select price_name from tasks where tasks.id = task_id) as "priceName", kind, amount, balance_after as "balanceAfter", reason,
  created_at as "createdAt"`;

// Charges and refunds have no index of their times, because each create would pay for it. The ids of entries have the order of their times,
// except for the time that a statement may wait. Each task has one charge, so the tasks' index of times shows between which ids the entries
// of a period lie. Five minutes are longer than any transaction.

/**
 * SQL: an id below all entries of the account from this time on (Unix
 * milliseconds). It is a bound, and not always that of the last entry before.
 */
export function entryIdLowerBoundSql(account: string, ms: string): string {
  return `coalesce((select id from ledger_entries where kind = 'charge' and task_id = (
      select id from tasks where account_id = ${account} and created_at < to_timestamp(${ms} / 1000) - interval '5 minutes'
      order by created_at desc, id desc limit 1)), 0)`;
}

/** SQL: an id above all entries of the account before this time. It is a bound, and not always that of the first entry after. */
export function entryIdUpperBoundSql(account: string, ms: string): string {
  return `coalesce((select id from ledger_entries where kind = 'charge' and task_id = (
      select id from tasks where account_id = ${account} and created_at >= to_timestamp(${ms} / 1000) + interval '5 minutes'
      order by created_at, id limit 1)), ${Number.MAX_SAFE_INTEGER})`;
}

/** Credits that an operator, a purchase or a redeemed code grants or takes. `amount` is signed. */
export type Booking = Pick<LedgerEntry, 'amount'> & {
  readonly accountId: string;
  readonly kind: 'grant' | 'adjustment';
  readonly reason: string;
  /** Books once in the whole installation: a second booking throws a violation of `ledger_by_idempotency_key`. */
  readonly idempotencyKey?: string | undefined;
  /** A second grant for a purchase throws a violation of `one_grant_per_top_up`. */
  readonly topUpId?: string | undefined;
};

/**
 * Returns undefined for an unknown account, if the balance would exceed 2^53 on either side of zero, and if a booking by an operator would
 * take it below zero. Only a returned payment may overdraw an account, because its credits may already be spent. Credits that are added to
 * an overdrawn account need not lift it above zero.
 */
export const bookCredits = maybeOne<LedgerEntry, [booking: Booking]>({
  name: 'book-credits',
  text: `
with account as (
  update accounts set balance = balance + $2::bigint
  where id = $1 and (balance + $2::bigint >= 0 or $2::bigint > 0 or $6::uuid is not null)
    and balance + $2::bigint between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}
  returning id, balance
)
insert into ledger_entries (account_id, kind, amount, balance_after, reason, idempotency_key, top_up_id)
select id, $3, $2::bigint, balance, $4, $5, $6 from account
returning ${entryColumns}`,
  values: (booking) => pickFieldValues(booking, 'accountId', 'amount', 'kind', 'reason', 'idempotencyKey', 'topUpId'),
});

export type LedgerFilter = {
  readonly accountId: string;
  readonly kind?: LedgerKind | undefined;
  readonly taskId?: string | undefined;
  /** Unix milliseconds of the booking, from (inclusive) and to (exclusive). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

const { $, values } = namedParameters<LedgerFilter>({
  accountId: 'uuid',
  kind: 'text',
  taskId: 'uuid',
  fromMs: 'float8',
  toMs: 'float8',
  before: 'bigint',
  limit: 'bigint',
});

const listBooks = many<{ balance: number } & (LedgerEntry | { entryId: undefined }), [filter: LedgerFilter]>({
  name: 'read-books',
  plannedAnew: true,
  text: `
select balance, entry.* from accounts left join lateral (
  select ${entryColumns} from ledger_entries
  where account_id = ${$.accountId} and id < ${$.before}
    and (${$.kind} is null or kind = ${$.kind}) and (${$.taskId} is null or task_id = ${$.taskId})
    and (${$.fromMs} is null
      or (created_at >= to_timestamp(${$.fromMs} / 1000) and id > ${entryIdLowerBoundSql($.accountId, $.fromMs)}))
    and (${$.toMs} is null
      or (created_at < to_timestamp(${$.toMs} / 1000) and id < ${entryIdUpperBoundSql($.accountId, $.toMs)}))
  order by id desc limit ${$.limit}
) entry on true where accounts.id = ${$.accountId} order by "entryId" desc`,
  values: ({ before = Number.MAX_SAFE_INTEGER, ...filter }) => values({ ...filter, before }),
});

/** Reads the balance and a page of entries, newest first, in one snapshot. Throws for an unknown account. */
export async function readBalanceAndEntries(
  db: Database,
  page: LedgerFilter,
): Promise<{ readonly balance: number; readonly entries: readonly LedgerEntry[] }> {
  const rows = await listBooks(db, page);
  const [first] = rows;
  if (first === undefined) throw new Error(`account ${page.accountId} not found`);
  const entries = rows.flatMap((row) => (row.entryId === undefined ? [] : [row]));
  return { balance: first.balance, entries };
}

export const listTaskEntries = many<LedgerEntry, [taskId: string]>({
  name: 'list-task-ledger-entries',
  text: `select ${entryColumns} from ledger_entries where task_id = $1 order by id`,
});

export type BookingOutcome =
  | { readonly kind: 'booked'; readonly entry: LedgerEntry }
  /** The idempotency key was used before for the same booking. */
  | { readonly kind: 'replayed'; readonly entry: LedgerEntry }
  | { readonly kind: 'key_reused' }
  | { readonly kind: 'account_not_found' }
  | { readonly kind: 'balance_out_of_range'; readonly balance: number };

/** Books once for each idempotency key. A grant to a closed account throws `AccountClosedError`; an adjustment may correct its books. */
export async function bookCreditsAs(db: Database, actor: Actor, booking: Booking): Promise<BookingOutcome> {
  try {
    return await changeWithAudit(db, actor, (transaction) => bookOnce(transaction, booking));
  } catch (error) {
    // Bookings of one account are serialized by its lock, so the other booking is for another account.
    if (violatedUniqueConstraint(error) !== 'ledger_by_idempotency_key') throw error;
    return { kind: 'key_reused' };
  }
}

/** The entry under the idempotency key of a booking; `isSame`: it is of the same booking. */
export const findBooking = maybeOne<LedgerEntry & { readonly isSame: boolean }, [booking: Booking]>({
  name: 'find-booking',
  text: `
select ${entryColumns}, (account_id, kind, amount, reason) = ($2, $3, $4, $5) as "isSame"
from ledger_entries where idempotency_key = $1`,
  values: (booking) => pickFieldValues(booking, 'idempotencyKey', 'accountId', 'kind', 'amount', 'reason'),
});

async function bookOnce(transaction: Database, booking: Booking): Promise<AnswerWithAction<BookingOutcome>> {
  const { accountId, kind, amount, reason } = booking;
  const account = await lockAccount(transaction, accountId);
  if (account === undefined) return { answer: { kind: 'account_not_found' } };
  const earlier = await findBooking(transaction, booking);
  if (earlier !== undefined) {
    return { answer: earlier.isSame ? { kind: 'replayed', entry: earlier } : { kind: 'key_reused' } };
  }
  if (kind === 'grant' && account.closedAt !== undefined) throw new AccountClosedError(accountId);
  const entry = await bookCredits(transaction, booking);
  if (entry === undefined) return { answer: { kind: 'balance_out_of_range', balance: account.balance } };
  const details = { amount, balance: entry.balanceAfter, reason, entryId: entry.entryId };
  const action = kind === 'grant' ? 'credits.grant' : 'credits.adjust';
  return { answer: { kind: 'booked', entry }, done: { action, accountId, details } };
}
