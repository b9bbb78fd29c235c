import { type Account, accountColumnsSql } from './accounts.ts';
import { activeKeySql } from './keys/active-key-sql.ts';
import { many, one } from '../platform/database/declare-statements.ts';
import { leastIdSql } from '../platform/database/sql-fragments-and-parameters.ts';
import { unfinishedTaskSql } from '../catalogue/tasks/task-state-sql.ts';

export const maxKeysAndTasksCounted = 10_000;

type AccountCounts = Readonly<Record<'activeKeys' | 'waiting' | 'queuing' | 'generating' | 'tasks', number>>;

/** Counts up to `maxKeysAndTasksCounted`, so that an account with millions of tasks costs as much as one with a thousand. */
export const countKeysAndTasks = one<AccountCounts, [accountId: string]>({
  name: 'count-of-account',
  text: `
select
  (select count(*) from (
    select from api_keys where account_id = $1 and ${activeKeySql}
    limit ${maxKeysAndTasksCounted}
  ) keys) as "activeKeys",
  live.*,
  (select count(*) from (select from tasks where account_id = $1 limit ${maxKeysAndTasksCounted}) tasks) as tasks
from (
  select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'queuing') as queuing,
    count(*) filter (where state = 'generating') as generating
  from (
    select state from tasks where account_id = $1 and ${unfinishedTaskSql} limit ${maxKeysAndTasksCounted}
  ) unfinished
) live`,
});

export const accountStates = ['active', 'suspended', 'closed'] as const;
export type AccountState = (typeof accountStates)[number];

/** A closed account is suspended, too. */
export function accountState({ suspendedAt, closedAt }: Account): AccountState {
  if (closedAt !== undefined) return 'closed';
  return suspendedAt === undefined ? 'active' : 'suspended';
}

const stateOfAccount = `case when closed_at is not null then 'closed' when suspended_at is not null then 'suspended' else 'active' end`;

export type AccountFilter = {
  /** Ignores case. */
  readonly prefix?: string | undefined;
  readonly state?: AccountState | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
};

/**
 * Lists accounts by name. Names are compared byte by byte, so that a prefix is a range, up to the greatest code point. The page begins
 * at one row, that of the cursor or of the prefix.
 */
export const listAccounts = many<Account, [filter: AccountFilter]>({
  name: 'list-accounts',
  plannedAnew: true,
  text: `
select ${accountColumnsSql} from accounts
where ($4::text is null or ${stateOfAccount} = $4) and lower(name) collate "C" < lower($1) || chr(1114111)
  and (lower(name) collate "C", id) > (
    case when $2::uuid is null then lower($1) else (select lower(name) from accounts where id = $2) end collate "C",
    coalesce($2, ${leastIdSql}))
  and starts_with(lower(name), lower($1))
order by lower(name) collate "C", id limit $3`,
  values: ({ prefix = '', state, after, limit }) => [prefix, after, limit, state],
});
