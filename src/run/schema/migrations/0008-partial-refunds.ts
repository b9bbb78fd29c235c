import { type Kysely, sql } from 'kysely';
import { ledgerKinds, refundKinds } from '../../../credits/ledger/ledger-entries-and-book-credits.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';

/** Successful tasks whose video fell short of the order, and the refund of the difference of the price. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- What a model has declared about videos that fall short, with the prices that decide its refunds; null for the default, a full refund.
alter table tasks add shortfall json;

alter table tasks drop constraint failed_is_refunded, add constraint failed_is_refunded check (
  case state when 'fail' then credits_refunded = credits_charged
    when 'success' then credits_refunded >= 0 and credits_refunded < credits_charged
    else credits_refunded = 0 end);

alter table ledger_entries
  drop constraint ledger_entries_kind_check,
  add constraint ledger_entries_kind_check check (kind in ${literalListSql(ledgerKinds)}),
  drop constraint task_fits_kind,
  add constraint task_fits_kind check ((kind in ${literalListSql(['charge', ...refundKinds])}) = (task_id is not null));
drop index ledger_refunds_by_account;
create index ledger_refunds_by_account on ledger_entries (account_id, id) where kind in ${literalListSql(refundKinds)}`)
    .execute(db);
}
