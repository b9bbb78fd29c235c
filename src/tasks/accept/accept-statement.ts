import type { Accepted, CreateRate, NewTask } from './acceptance-contract.ts';
import { chargeEntrySql } from '../../credits/ledger/ledger-entry-sql.ts';
import { taskPriceSql } from '../../credits/prices/task-price-sql-and-quote.ts';
import { type Database, isDeadlock, violatedUniqueConstraint } from '../../platform/database/database.ts';
import { rateLeft } from '../../platform/timing/parse-rate-and-rate-left.ts';

// The rule of acceptance, for a batch of tasks of one or many accounts. A task must be new, its key active and its account not suspended.
// Of those tasks, each account accepts the first ones that its balance, its limit of unfinished tasks and its rate allow, by running sums
// over the earlier tasks. A task that a batch does not accept is tried alone (accept-in-batches.ts). Spend caps are checked after all of
// this, and only for accounts that have any (`acceptCapped` in accept-one-task.ts).

type Column = { readonly type: string; readonly of: (task: NewTask) => unknown };
type Columns = Readonly<Record<string, Column>>;

/** The values that decide about a task. Each is a parameter of the statements: an array with one element per task. */
const decisive = {
  task_id: { type: 'uuid', of: ({ taskId }) => taskId },
  account_id: { type: 'uuid', of: ({ accountId }) => accountId },
  key_id: { type: 'uuid', of: ({ by }) => (by?.kind === 'key' ? by.keyId : undefined) },
  idempotency_key: { type: 'text', of: ({ idempotencyKey }) => idempotencyKey },
  quota: { type: 'integer', of: ({ createRate }) => createRate?.quota },
  window_ms: { type: 'integer', of: ({ createRate }) => createRate?.windowMs },
  model: { type: 'text', of: ({ param }) => param.model },
  duration: { type: 'integer', of: ({ param }) => param.input.duration },
  listed: { type: 'json', of: ({ listedPrices }) => JSON.stringify(listedPrices) },
} as const satisfies Columns;

/** Columns of an accepted task that decide nothing. */
const storedOnly = {
  param: { type: 'json', of: ({ param }) => JSON.stringify(param) },
  callback_url: { type: 'text', of: ({ param }) => param.callBackUrl },
  request_sha256: { type: 'bytea', of: ({ requestSha256 }) => requestSha256 },
  dialect: { type: 'text', of: ({ dialect = 'native' }) => dialect },
  shortfall: { type: 'json', of: ({ shortfall }) => shortfall && JSON.stringify(shortfall) },
  deadline_ms: { type: 'integer', of: ({ deadlineMs }) => deadlineMs },
  user_id: { type: 'uuid', of: ({ by }) => (by?.kind === 'person' ? by.userId : undefined) },
} as const satisfies Columns;

const columns = { ...decisive, ...storedOnly };
const names = Object.keys(columns);
/** SQL for the value of the task at `position`. */
const valueOf = (name: keyof typeof columns) => `($${names.indexOf(name) + 1}::${columns[name].type}[])[position]`;
// The keys of an object literal are its declared keys.
const storedOnlyNames = Object.keys(storedOnly) as readonly (keyof typeof storedOnly)[];

function valuesOf(given: Columns, tasks: readonly NewTask[]): unknown[] {
  return Object.values(given).map(({ of }) => tasks.map(of));
}

// now() is the task's created_at, however long the statement waits for a lock.
const price = taskPriceSql({
  model: 'request.model',
  accountId: 'request.account_id',
  listed: valueOf('listed'),
  at: 'now()',
});

const keyIsActive = `coalesce((select revoked_at is null and (expires_at is null or expires_at > now())
        from api_keys where id = key_id and account_id = request.account_id), key_id is null)`;

// Each account is locked once and read in its latest version, because every further read of a changed row costs as much as the first.
// `(select $1::uuid[])` keeps the length of the array out of the plan, so one plan serves all batches. The clock is read when all locks
// are held, so that a create that waited for a lock is checked against the current time.
const judged = ({ lock, capped }: { readonly lock: string; readonly capped: 'exclude' | 'include' }) => `
request as (
  select position, task_id, ${valueOf('account_id')} as account_id, ${valueOf('key_id')} as key_id,
    ${valueOf('idempotency_key')} as idempotency_key, ${valueOf('model')} as model
  from unnest((select $1::uuid[])) with ordinality request (task_id, position)
), locked as materialized (
  select id, balance, unfinished_tasks, max_unfinished_tasks, suspended_at, create_due_at, create_quota, create_window_ms, capped
  from accounts where id = any((select $2::uuid[])::uuid[]) ${lock}
), priced as materialized (
  select request.*, locked_account.*, price_name, ${valueOf('duration')} * credits_per_second + credits_per_video as credits,
    case
      when (select id from tasks where id = request.task_id) is not null then 'known'
      when locked_account.id is null then 'account_not_found'
      when not ${keyIsActive} then 'key_inactive'
      when suspended_at is not null then 'account_suspended'
      when (select id from tasks where account_id = request.account_id and idempotency_key = request.idempotency_key) is not null
        then 'known'
      ${capped === 'include' ? '' : "when capped then 'capped'"}
    end as obstacle
  from request left join lateral (
    select *, coalesce(create_quota, ${valueOf('quota')}) as quota, coalesce(create_window_ms, ${valueOf('window_ms')}) as window_ms
    from locked where id = request.account_id offset 0
  ) locked_account on true left join lateral ${price} price on true
), judged as materialized (
  select *,
    case
      when obstacle is not null then obstacle
      when credits is null then 'no_price'
      when balance_after < 0 then 'insufficient_credits'
      when unfinished_after > max_unfinished_tasks then 'too_many_unfinished_tasks'
      when due_after > at + create_window then 'too_fast'
    end as refusal
  from (
    select *, balance - spent as balance_after, unfinished_tasks + nth as unfinished_after,
      greatest(create_due_at, at) + nth * create_window / quota as due_after
    from (
      select *, (select clock_timestamp()) as at, window_ms * interval '1 ms' as create_window,
        sum(credits) filter (where obstacle is null) over earlier as spent,
        count(credits) filter (where obstacle is null) over earlier as nth
      from priced window earlier as (partition by account_id order by position rows unbounded preceding)
    ) summed
  ) after
  order by account_id, position
)`;
const answer = `refusal, credits, quota, window_ms, (extract(epoch from
  case when refusal is null then due_after else create_due_at end - clock_timestamp()) * 1000)::float8 as due_in_ms`;

// The account gets the absolute figures that were judged under its lock. `balance = balance - x` would start from the statement's
// snapshot, which is older than a lock that it waited for.
const acceptText = (options: Parameters<typeof judged>[0]) => `
with ${judged(options)}, accepted as not materialized (
  select * from judged where refusal is null
), account as (
  update accounts set balance = last.balance, unfinished_tasks = last.unfinished_tasks, create_due_at = last.due_at
  from (
    select account_id, min(balance_after) as balance, max(unfinished_after) as unfinished_tasks, max(due_after) as due_at
    from accepted group by account_id
  ) last
  where id = account_id
), task as (
  insert into tasks (id, account_id, model, price_name, credits_charged, idempotency_key, key_id, ${storedOnlyNames.join(', ')})
  select task_id, account_id, model, price_name, credits, idempotency_key, key_id, ${storedOnlyNames.map(valueOf).join(', ')} from accepted
), ${chargeEntrySql('accepted')}
select position, ${answer} from judged`;

const acceptTasks = {
  name: 'accept-tasks',
  text: acceptText({ lock: 'for no key update skip locked', capped: 'exclude' }),
};
const acceptTasksOfOne = {
  name: 'accept-tasks-of-one-account',
  text: acceptText({ lock: 'for no key update', capped: 'exclude' }),
};
/** For one task, whose caps the caller checks under the account's lock. */
export const acceptCappedTaskStatement = {
  name: 'accept-capped-task',
  text: acceptText({ lock: 'for no key update', capped: 'include' }),
};
export const acceptStatementValues = (tasks: readonly NewTask[]) => valuesOf(columns, tasks);

/**
 * `locked`: another process has locked the account, or the account does not exist. `not_accepted`: the task repeats another one or is
 * refused. `acceptTaskAlone` returns which.
 */
export type NotInBatch = 'locked' | 'not_accepted';

/**
 * Accepts as many of some dozens of tasks as the rules allow, in one statement, and charges no others. With `waits`, the statement waits
 * for a locked account instead of skipping it. Then all tasks must be of one account, because the locks of several accounts could deadlock.
 * A statement that fails has accepted nothing, unless its connection was lost after it was sent (`DatabaseUnavailableError.wasSent`).
 */
export async function acceptBatch(
  db: Pick<Database, 'run'>,
  tasks: readonly NewTask[],
  { waits }: { readonly waits: boolean },
): Promise<readonly (Accepted | NotInBatch)[]> {
  const distinct = withoutDuplicates(tasks);
  const answers = new Map<NewTask, Accepted | NotInBatch>();
  const statement = waits ? acceptTasksOfOne : acceptTasks;
  for (const row of await db.run<AnswerRow & { position: number }>(statement, acceptStatementValues(distinct))) {
    const task = distinct[row.position - 1];
    if (task === undefined) throw new Error(`accept-tasks returned the unknown position ${row.position}`);
    // The statement skips locked accounts, which it then does not find.
    const notAccepted = row.refusal === 'account_not_found' ? 'locked' : 'not_accepted';
    answers.set(task, row.refusal === null ? acceptedFromRow(task, row) : notAccepted);
  }
  return tasks.map((task) => answers.get(task) ?? 'not_accepted');
}

/** Duplicates are removed here, because a statement cannot read the rows that it inserts. */
function withoutDuplicates(tasks: readonly NewTask[]): readonly NewTask[] {
  const seen = new Set<string>();
  return tasks.filter(({ taskId, accountId, idempotencyKey }) => {
    const ids = idempotencyKey === undefined ? [taskId] : [taskId, `${accountId} ${idempotencyKey}`];
    if (ids.some((id) => seen.has(id))) return false;
    for (const id of ids) seen.add(id);
    return true;
  });
}

export type AnswerRow = RateRow & ({ refusal: null; credits: number } | { refusal: string });
export type RateRow = { quota: number | null; window_ms: number | null; due_in_ms: number | null };

export function acceptedFromRow({ taskId }: NewTask, row: RateRow & { credits: number }): Accepted {
  const rate = rateFromRow(row);
  return { kind: 'accepted', taskId, creditsCharged: row.credits, ...(rate !== undefined && { rate }) };
}

export function rateFromRow({ quota, window_ms: windowMs, due_in_ms: dueInMs }: RateRow): CreateRate | undefined {
  if (quota === null || windowMs === null) return undefined;
  const limit = { quota, windowMs };
  return { limit, left: rateLeft(limit, dueInMs ?? 0) };
}

/** True if another process accepted the same task or idempotency key first. The next read finds its task. */
export function isLostRace(error: unknown): boolean {
  return violatedUniqueConstraint(error) !== undefined || isDeadlock(error);
}

/**
 * Returns whether a task can be accepted, but for its caps, or why it is refused. It takes no lock and reads the earlier task in the same
 * snapshot; `acceptTasks` misses one that was committed while it waited for the account.
 */
export const refusalReasonStatement = {
  name: 'explain-task',
  text: `
with ${judged({ lock: '', capped: 'include' })}
select ${answer}, capped, balance, max_unfinished_tasks, earlier.*
from judged left join lateral (
  select id as task_id, credits_charged, request_sha256, state, content_deleted_at from tasks where id = judged.task_id
  union all
  select id, credits_charged, request_sha256, state, content_deleted_at from tasks
  where account_id = judged.account_id and idempotency_key = judged.idempotency_key
  limit 1
) earlier on refusal = 'known'`,
};
export const refusalReasonStatementValues = (task: NewTask) => valuesOf(decisive, [task]);
