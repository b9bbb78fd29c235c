import { many } from '../../platform/database/declare-statements.ts';
import { codeHashOfIdempotencyKeySql } from './redemption-codes.ts';
import { capInForceSql, spentSinceSql } from '../../accounts/limits/spend-caps.ts';

// The rules about codes and caps, for accounts. An account that breaks one is a row, whose detail names each breach.

export type AccountViolation<Rule extends string> = {
  readonly rule: Rule;
  readonly accountId: string;
  readonly entryId: undefined;
  readonly taskId: undefined;
  readonly detail: string;
};

const columns = (rule: string) =>
  `${rule} as rule, account_id as "accountId", null::bigint as "entryId", null::uuid as "taskId"`;

/** Every redeemed code has one grant of its credits to the account that redeemed it, and every grant under a code's name has its code. */
export const checkCodes = many<AccountViolation<'code_is_granted_once'>, [accounts: readonly string[]]>({
  name: 'check-codes',
  text: `
with code as (
  select hash, redeemed_by as account_id, credits from redemption_codes join code_batches on code_batches.id = batch_id
  where redeemed_by = any($1::uuid[])
), booked as (
  select ${codeHashOfIdempotencyKeySql('idempotency_key')} as hash, account_id, kind, amount
  from ledger_entries where account_id = any($1::uuid[]) and kind in ('grant', 'adjustment')
), granted as (
  select hash, account_id, count(*) as grants, sum(amount) filter (where kind = 'grant') as amount
  from booked where hash is not null group by hash, account_id
)
select ${columns(`'code_is_granted_once'`)}, string_agg(format('code %s of %s credits, %s grants of %s',
    left(encode(hash, 'hex'), 12), coalesce(credits::text, 'another account'), coalesce(grants, 0), coalesce(amount, 0)), '; ' order by hash) as detail
from code full join granted using (hash, account_id)
where grants is distinct from 1 or amount is distinct from credits
group by account_id`,
});

/** Caps count the tasks of their subject since the start of the period, and are enforced. */
export const checkCaps = many<
  AccountViolation<'cap_counts_what_was_spent' | 'caps_are_enforced'>,
  [accounts: readonly string[]]
>({
  name: 'check-caps',
  text: `
with cap as (
  select spend_caps.*, ${spentSinceSql({
    account: 'spend_caps.account_id',
    kind: 'subject_kind',
    subject: 'subject_id',
    start: 'period_start',
  })} as actual
  from spend_caps where account_id = any($1::uuid[])
)
select ${columns(`'cap_counts_what_was_spent'`)}, string_agg(format('%s cap of %s %s: %s spent, its tasks add up to %s',
    period, subject_kind, subject_id, spent, actual), '; ' order by subject_id, period) as detail
from cap where spent <> actual group by account_id
union all
select ${columns(`'caps_are_enforced'`)}, 'the account is not marked as capped'
from (select distinct account_id from spend_caps where account_id = any($1::uuid[]) and ${capInForceSql}) marked
  join accounts on accounts.id = account_id where not capped`,
});
