import { type Account, accountColumns } from './accounts.ts';
import { isActive } from './keys.ts';
import { many, one } from './statement.ts';
import { isUnfinished } from './task-states.ts';

export const countLimit = 10_000;

type AccountCounts = Readonly<Record<'activeKeys' | 'waiting' | 'queuing' | 'generating' | 'tasks', number>>;

/** So many of each, at most `countLimit`: an account with millions of tasks is not counted through. */
export const countOfAccount = one<AccountCounts, [accountId: string]>({
  name: 'count-of-account',
  text: `
select
  (select count(*) from (
    select from api_keys where account_id = $1 and ${isActive}
    limit ${countLimit}
  ) keys) as "activeKeys",
  live.*,
  (select count(*) from (select from tasks where account_id = $1 limit ${countLimit}) tasks) as tasks
from (
  select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'queuing') as queuing,
    count(*) filter (where state = 'generating') as generating
  from (
    select state from tasks where account_id = $1 and ${isUnfinished} limit ${countLimit}
  ) unfinished
) live`,
});

export type AccountFilter = {
  /** How the name begins, in any case. */
  readonly prefix?: string | undefined;
  readonly suspended?: boolean | undefined;
  /** The last account of the page before this one; a UUID. */
  readonly after?: string | undefined;
  readonly limit: number;
};

/**
 * Accounts by name, at most `limit`. Names are compared byte by byte, in which order a prefix is a range: up to the last code point
 * there is. Where the page begins is one row to compare with, of the cursor or of the prefix; a cursor may be of another search.
 */
export const listAccounts = many<Account, [filter: AccountFilter]>({
  name: 'list-accounts',
  plannedAnew: true,
  text: `
select ${accountColumns} from accounts
where ($4::boolean is null or suspended_at is not null = $4) and lower(name) collate "C" < lower($1) || chr(1114111)
  and (lower(name) collate "C", id) > (
    case when $2::uuid is null then lower($1) else (select lower(name) from accounts where id = $2) end collate "C",
    coalesce($2, '00000000-0000-0000-0000-000000000000'))
  and starts_with(lower(name), lower($1))
order by lower(name) collate "C", id limit $3`,
  values: ({ prefix = '', suspended, after, limit }) => [prefix, after, limit, suspended],
});
