import { ownCreateRateColumnSql } from '../../accounts/accounts.ts';
import { activeKeySql } from '../../accounts/keys/active-key-sql.ts';
import { maxActiveKeys } from '../../accounts/keys/keys.ts';
import { maxUploadedBytesOfAccount, maxUploadsOfAccount } from '../../media/references/upload-limits-and-addresses.ts';
import type { Rate } from '../../platform/timing/parse-rate-and-rate-left.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';

export type AccountLimitUse = {
  readonly unfinishedTasks: number;
  readonly maxUnfinishedTasks: number;
  /** Undefined for the installation's. */
  readonly createRate: Rate | undefined;
  /** The time until the next create is due if creates came evenly; 0 after a pause. */
  readonly createDueInMs: number;
  readonly uploads: number;
  readonly uploadedBytes: number;
  readonly activeKeys: number;
};

export const fixedAccountLimits = {
  uploads: maxUploadsOfAccount,
  uploadedBytes: maxUploadedBytesOfAccount,
  activeKeys: maxActiveKeys,
} as const;

/** Counts are bounded by the limits themselves. */
export const findAccountLimitUse = maybeOne<AccountLimitUse, [accountId: string]>({
  name: 'find-account-usage',
  text: `
select unfinished_tasks as "unfinishedTasks", max_unfinished_tasks as "maxUnfinishedTasks", ${ownCreateRateColumnSql},
  greatest(0, coalesce(extract(epoch from create_due_at - now()) * 1000, 0))::float8 as "createDueInMs",
  stored.files as uploads, stored.bytes as "uploadedBytes",
  (select count(*)::int from api_keys where account_id = $1 and ${activeKeySql}) as "activeKeys"
from accounts cross join lateral (
  select count(*)::int as files, coalesce(sum(bytes), 0)::bigint as bytes from uploads where account_id = $1
) stored
where id = $1`,
});
