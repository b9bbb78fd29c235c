import { fingerprint } from '../domain/task-input.ts';
import type { NewTask } from './acceptance.ts';
import { creditsPerSecondAt } from './prices.ts';

// The rule of acceptance, written once, for one task or many, of one account or many. A task must be new, its key live and its
// account not suspended; of those, each account takes the first so many that its balance, its places and its rate allow.
// Running sums stand for what the tasks before have used, so what is accepted is what would have been, one by one.

type Column = { readonly type: string; readonly of: (task: NewTask) => unknown };
type Columns = Readonly<Record<string, Column>>;

/** What both statements are told of each task, an array for each. */
const question = {
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

/** What else is written of an accepted one, by the names of its columns. */
const content = {
  param: { type: 'json', of: ({ param }) => JSON.stringify(param) },
  callback_url: { type: 'text', of: ({ param }) => param.callBackUrl },
  request_sha256: { type: 'bytea', of: ({ param }) => fingerprint(param) },
  dialect: { type: 'text', of: ({ dialect = 'native' }) => dialect },
  deadline_ms: { type: 'integer', of: ({ deadlineMs }) => deadlineMs },
  user_id: { type: 'uuid', of: ({ by }) => (by?.kind === 'person' ? by.userId : undefined) },
  providers: { type: 'json', of: ({ providers }) => providers && JSON.stringify(providers) },
} as const satisfies Columns;

const columns = { ...question, ...content };
const names = Object.keys(columns);
/** The value for the task in this place. */
const given = (name: keyof typeof columns) => `($${names.indexOf(name) + 1}::${columns[name].type}[])[place]`;
// The keys of a table are its columns' names.
const written = Object.keys(content) as readonly (keyof typeof content)[];

function valuesOf(asked: Columns, tasks: readonly NewTask[]): unknown[] {
  return Object.values(asked).map(({ of }) => tasks.map(of));
}

// However long the statement waits for a lock, now() is the task's created_at, and a decided price is known to all before it counts
// (prices.ts).
const price = creditsPerSecondAt({
  model: 'asked.model',
  accountId: 'asked.account_id',
  listed: given('listed'),
  at: 'now()',
});

// Scopes and account of a key never change.
const keyIsLive = `coalesce((select revoked_at is null and (expires_at is null or expires_at > now())
        from api_keys where id = key_id and account_id = asked.account_id), key_id is null)`;

// Each account is locked once, in its latest version: of a row that was changed meanwhile, every further look costs as much as
// the first. The inner selects hide the arrays' lengths from the planner, which would plan each one anew; a select of one value is a
// look-up by key, independent of what the planner estimates. The clock is read once, when all locks are held: a create that waited
// for a lock must not be judged by the time before it.
const judged = (lock: string) => `
asked as (
  select place, task_id, ${given('account_id')} as account_id, ${given('key_id')} as key_id,
    ${given('idempotency_key')} as idempotency_key, ${given('model')} as model
  from unnest((select $1::uuid[])) with ordinality asked (task_id, place)
), locked as materialized (
  select id, balance, unfinished_tasks, max_unfinished_tasks, suspended_at, create_due_at, create_quota, create_window_ms
  from accounts where id = any((select $2::uuid[])::uuid[]) ${lock}
), priced as materialized (
  select asked.*, account.*, ${given('duration')} * ${price} as credits,
    case
      when (select id from tasks where id = asked.task_id) is not null then 'known'
      when account.id is null then 'account_not_found'
      when not ${keyIsLive} then 'key_not_active'
      when suspended_at is not null then 'account_suspended'
      when (select id from tasks where account_id = asked.account_id and idempotency_key = asked.idempotency_key) is not null
        then 'known'
    end as bar
  from asked left join lateral (
    select *, coalesce(create_quota, ${given('quota')}) as quota, coalesce(create_window_ms, ${given('window_ms')}) as window_ms
    from locked where id = asked.account_id offset 0
  ) account on true
), judged as materialized (
  select *,
    case
      when bar is not null then bar
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
        sum(credits) filter (where bar is null) over earlier as spent,
        count(credits) filter (where bar is null) over earlier as nth
      from priced window earlier as (partition by account_id order by place rows unbounded preceding)
    ) summed
  ) after
  order by account_id, place
)`;
const answer = `refusal, credits, quota, window_ms, (extract(epoch from
  case when refusal is null then due_after else create_due_at end - clock_timestamp()) * 1000)::float8 as due_in_ms`;

// The account gets the figures that were judged under its lock: figures relative to the row would be held against its CHECK
// constraints as of the snapshot, which is older than a lock that was waited for.
const acceptText = (lock: string) => `
with ${judged(lock)}, accepted as not materialized (
  select * from judged where refusal is null
), account as (
  update accounts set balance = last.balance, unfinished_tasks = last.unfinished_tasks, create_due_at = last.due_at
  from (
    select account_id, min(balance_after) as balance, max(unfinished_after) as unfinished_tasks, max(due_after) as due_at
    from accepted group by account_id
  ) last
  where id = account_id
), task as (
  insert into tasks (id, account_id, model, credits_charged, idempotency_key, key_id, ${written.join(', ')})
  select task_id, account_id, model, credits, idempotency_key, key_id, ${written.map(given).join(', ')} from accepted
), entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
  select account_id, task_id, 'charge', -credits, balance_after from accepted order by account_id, place
)
select place, ${answer} from judged`;

export const acceptTasks = { name: 'accept-tasks', text: acceptText('for no key update skip locked') };
export const acceptTasksOfOne = { name: 'accept-tasks-of-one-account', text: acceptText('for no key update') };
export const acceptValues = (tasks: readonly NewTask[]) => valuesOf(columns, tasks);

/**
 * Why a task is refused, without a lock: in one snapshot with the earlier task, which `acceptTasks` misses when it was committed
 * while it waited for the account.
 */
export const explainTask = {
  name: 'explain-task',
  text: `
with ${judged('')}
select ${answer}, balance, max_unfinished_tasks, earlier.*
from judged left join lateral (
  select id as task_id, credits_charged, request_sha256, state, content_deleted_at from tasks where id = judged.task_id
  union all
  select id, credits_charged, request_sha256, state, content_deleted_at from tasks
  where account_id = judged.account_id and idempotency_key = judged.idempotency_key
  limit 1
) earlier on refusal = 'known'`,
};
export const explainValues = (task: NewTask) => valuesOf(question, [task]);
