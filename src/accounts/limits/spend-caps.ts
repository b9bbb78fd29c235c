import { isDeepStrictEqual } from 'node:util';
import { activeKeySql } from '../keys/active-key-sql.ts';
import { lockOpenAccount } from '../accounts.ts';
import type { Actor } from '../operators/actors-and-actions.ts';
import { changeWithAudit } from '../operators/audit-log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { FieldError } from '../../platform/text/field-errors.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, noRows, type StatementRunner } from '../../platform/database/declare-statements.ts';

// Limits on what a key, a member or the whole account spends, by day and month (UTC) and in total. What counts is the charge of a task
// less its refund, in the period in which the task was created.

export const capPeriods = ['day', 'month', 'total'] as const;
export type CapPeriod = (typeof capPeriods)[number];
export type CapSubjectKind = 'key' | 'member' | 'account';

/** Credits per period; null removes a cap, and an absent period stays as it is. */
export type CapChange = { readonly [Period in CapPeriod]?: number | null | undefined };

/** A spender with caps: `id` is that of a key, a person or the account. */
export type CapSubject = { readonly kind: CapSubjectKind; readonly id: string };

export type SpendCap = {
  readonly subject: CapSubjectKind;
  /** The newest of the keys that share the cap (a key, its rotations, and the keys that it made), the person, or the account. */
  readonly subjectId: string;
  readonly period: CapPeriod;
  readonly credits: number;
  readonly spent: number;
  /** The time at which `spent` becomes 0; undefined for a total. */
  readonly resetsAt: number | undefined;
};

const startOf = (period: string, at: string) =>
  `case ${period} when 'total' then timestamptz 'epoch' else date_trunc(${period}, ${at}, 'UTC') end`;
/** SQL: the start of the period that contains the beginning of the transaction, because its tasks are created then. */
const periodStart = startOf('spend_caps.period', 'now()');
/** A month is added without a time zone, because the server's may be another one than UTC. */
const nextStart = `case period when 'total' then null
  else (date_trunc(period, now() at time zone 'UTC') + ('1 ' || period)::interval) at time zone 'UTC' end`;

export const capColumnsSql = `spend_caps.subject_kind as subject, period, credits,
  case when period_start < ${periodStart} then 0 else spent end as spent, ${nextStart} as "resetsAt",
  coalesce((select id from api_keys where spend_subject = subject_id order by created_at desc, id desc limit 1), subject_id) as "subjectId"`;

/** The caps of an account, its members and its active keys, with what was spent in the current period. */
export const listSpendCapsOfAccount = many<SpendCap, [accountId: string]>({
  name: 'list-spend-caps',
  text: `
select ${capColumnsSql} from spend_caps where account_id = $1
  and (subject_kind <> 'key' or exists (select from api_keys where spend_subject = subject_id and ${activeKeySql}))
order by subject_kind, subject_id, array_position(array['day', 'month', 'total'], period)`,
});

/** The creator of a task, and its cost. */
export type TaskSpending = {
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly userId: string | undefined;
  readonly credits: number;
};

const spendingValues = ({ accountId, keyId, userId, credits }: TaskSpending) => [accountId, userId, keyId, credits];
/**
 * SQL: the caps of a task. A rotated key shares those of the key before it, as do keys that a key with caps made. A refund restores them by
 * the trigger `refunds_restore_caps`.
 */
const ofSpending =
  'account_id = $1 and subject_id in ($1, $2::uuid, (select spend_subject from api_keys where id = $3::uuid))';

const currentPeriod = `greatest(spend_caps.period_start, ${periodStart})`;

/**
 * Returns the cap that a charge would exceed, of several the one that resets last, and marks it as reached: the response is
 * `spend_cap_reached`. A trigger records the event of the first mark. The caller holds the account's lock.
 */
export const findAndMarkExceededCap = maybeOne<SpendCap, [spending: TaskSpending]>({
  name: 'mark-exceeded-cap',
  text: `
with exceeded as (
  select * from (select account_id, subject_id, ${capColumnsSql} from spend_caps where ${ofSpending}) caps
  where spent + $4 > credits order by "resetsAt" desc nulls first limit 1
), reached as (
  update spend_caps set reached_in = ${currentPeriod} from exceeded
  where spend_caps.account_id = exceeded.account_id and spend_caps.subject_id = exceeded.subject_id
    and spend_caps.period = exceeded.period and reached_in is distinct from ${currentPeriod}
)
select subject, "subjectId", period, credits, spent, "resetsAt" from exceeded`,
  values: spendingValues,
});

const spentAfter = `case when period_start > ${periodStart} then spent when period_start < ${periodStart} then $4 else spent + $4 end`;

/**
 * Counts a charge towards the caps, and marks those that it uses up. A period that began while its transaction waited does not count it.
 */
export const addSpendingToCaps = noRows<[spending: TaskSpending]>({
  name: 'count-spending',
  text: `
update spend_caps set period_start = ${currentPeriod}, spent = ${spentAfter},
  reached_in = case when ${spentAfter} >= credits then ${currentPeriod} else reached_in end
where ${ofSpending}`,
  values: spendingValues,
});

// A former member may still have caps, which can be removed.
const findSubject = maybeOne<{ readonly subjectId: string | undefined }, [accountId: string, subject: CapSubject]>({
  name: 'find-cap-subject',
  text: `
select case $2
  when 'key' then (select spend_subject from api_keys where id = $3 and account_id = $1)
  when 'member' then coalesce((select user_id from memberships where user_id = $3 and account_id = $1),
    (select subject_id from spend_caps where account_id = $1 and subject_id = $3 and subject_kind = 'member' limit 1))
  else $1::uuid end as "subjectId"`,
  values: (accountId, { kind, id }) => [accountId, kind, id],
});

type NewCap = Pick<SpendCap, 'subject' | 'subjectId' | 'period' | 'credits'> & { readonly accountId: string };

type Counted = { readonly account: string; readonly kind: string; readonly subject: string; readonly start: string };

/** SQL: the charges less refunds of a subject's tasks since the start of a period, which is what its cap has to count. */
export const spentSinceSql = ({ account, kind, subject, start }: Counted) => `(
  select coalesce(sum(credits_charged - credits_refunded), 0) from tasks
  where account_id = ${account} and created_at >= ${start}
    and (${kind} = 'account' or user_id = ${subject} or key_id in (select id from api_keys where spend_subject = ${subject}))
)`;

// The transaction may have waited for the lock since the former period, while tasks of the new one were created. So the clock is read
// under the lock, and the period is not older than any task that is counted.
const upsertCap = noRows<[cap: NewCap]>({
  name: 'set-spend-cap',
  text: `
insert into spend_caps (account_id, subject_kind, subject_id, period, credits, period_start, spent)
select $1, $2, $3, period, $5, start, ${spentSinceSql({ account: '$1', kind: '$2', subject: '$3', start: 'start' })}
from (select period, ${startOf('period', 'clock_timestamp()')} as start from (select $4::text as period) given) starting
on conflict (account_id, subject_id, period) do update
set credits = excluded.credits, spent = excluded.spent, period_start = excluded.period_start, reached_in = null`,
  values: (cap) => pickFieldValues(cap, 'accountId', 'subject', 'subjectId', 'period', 'credits'),
});

const removeCap = noRows<[accountId: string, subjectId: string, period: CapPeriod]>({
  name: 'remove-spend-cap',
  text: 'delete from spend_caps where account_id = $1 and subject_id = $2 and period = $3',
});

/** SQL that is true for a cap that can refuse a task: a former member creates none. The trigger of `memberships` has the same condition. */
export const capInForceSql = `(subject_kind <> 'member' or exists (
  select from memberships where memberships.account_id = spend_caps.account_id and user_id = subject_id))`;

const markCapped = noRows<[accountId: string]>({
  name: 'mark-capped-account',
  text: `
update accounts set capped = exists (select from spend_caps where account_id = $1 and ${capInForceSql}) where id = $1`,
});

/** Sets caps in the caller's transaction, which holds the account's lock. Returns false for an unknown key or member. */
export async function setCapsInTransaction(
  db: StatementRunner,
  accountId: string,
  subject: CapSubject,
  change: CapChange,
): Promise<boolean> {
  const { subjectId } = (await findSubject(db, accountId, subject)) ?? {};
  if (subjectId === undefined) return false;
  for (const period of capPeriods) {
    const credits = change[period];
    if (credits === null) await removeCap(db, accountId, subjectId, period);
    else if (credits !== undefined)
      await upsertCap(db, { accountId, subject: subject.kind, subjectId, period, credits });
  }
  await markCapped(db, accountId);
  return true;
}

/** Sets caps as an operator. Returns false for a subject that the account does not have. */
export function setSpendCapsAs(
  db: Database,
  actor: Actor,
  accountId: string,
  subject: CapSubject,
  change: CapChange,
): Promise<boolean> {
  return changeWithAudit(db, actor, async (transaction) => {
    await lockOpenAccount(transaction, accountId);
    const read = async () =>
      (await listSpendCapsOfAccount(transaction, accountId)).map(
        (cap) => `${cap.subjectId} ${cap.period} ${cap.credits}`,
      );
    const before = await read();
    const answer = await setCapsInTransaction(transaction, accountId, subject, change);
    if (!answer || isDeepStrictEqual(await read(), before)) return { answer };
    // The id as the database spells it.
    const details = { subject: subject.kind, subjectId: subject.id.toLowerCase(), ...change };
    return { answer, done: { action: 'caps.set', accountId, details } };
  });
}

type ProtectedCap = Pick<SpendCap, 'period' | 'credits'>;

/** The caps of a subject that a key must not widen: all of them if the key itself has caps, else none. */
const findProtectedCaps = many<ProtectedCap, [accountId: string, subject: CapSubject, keyId: string]>({
  name: 'find-caps-protected-from-key',
  text: `
select period, credits from spend_caps
where account_id = $1 and subject_id = case $2 when 'key' then (select spend_subject from api_keys where id = $3::uuid) else $3::uuid end
  and exists (select from spend_caps own where own.account_id = $1
    and own.subject_id = (select spend_subject from api_keys where id = $4::uuid))
order by array_position(array['day', 'month', 'total'], period)`,
  values: (accountId, { kind, id }, keyId) => [accountId, kind, id, keyId],
});

/** The calling key must not make such a key, or change caps in this way. */
export type BeyondCallerLimitsOutcome = { readonly kind: 'beyond_caller'; readonly errors: readonly FieldError[] };

/**
 * Sets caps, and counts what was spent in the current periods so far. The calling key `keyId`, if it has caps itself, sets lower ones only,
 * for any subject: otherwise it would allow itself, or a key that it can use, to spend more. Throws `AccountClosedError`.
 */
export function setSpendCaps(
  db: Database,
  accountId: string,
  subject: CapSubject,
  change: CapChange,
  keyId?: string,
): Promise<boolean | BeyondCallerLimitsOutcome> {
  return db.transaction<boolean | BeyondCallerLimitsOutcome>(async (run) => {
    await lockOpenAccount({ run }, accountId);
    const caps = keyId === undefined ? [] : await findProtectedCaps({ run }, accountId, subject, keyId);
    const errors = caps.flatMap((cap) => refuseWider(cap, change));
    return errors.length > 0
      ? { kind: 'beyond_caller', errors }
      : setCapsInTransaction({ run }, accountId, subject, change);
  });
}

function refuseWider({ period, credits }: ProtectedCap, change: CapChange): readonly FieldError[] {
  const requested = change[period];
  const isWider = requested === null || (requested !== undefined && requested > credits);
  return isWider ? [{ path: period, message: `must be at most ${credits}, because the calling key has caps` }] : [];
}
