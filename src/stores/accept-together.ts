import type { Price as ListedRate } from '../domain/price.ts';
import { fingerprint } from '../domain/task-input.ts';
import { type Accepted, acceptedFromRow, type AcceptedRow, inForce, keyIsLive, type NewTask } from './accept-task.ts';
import type { Database } from './database.ts';

/** `locked`: somebody else is at work on the account. `left_out`: it repeats another task, or is to be refused. */
export type NotTogether = 'locked' | 'left_out';

/**
 * Accepts what it can of several tasks, of any accounts, in one statement: of each account the longest row of them, in
 * the given order, that its balance, its places and its rate allow. Of every other it answers why it has not been
 * decided; nothing is charged for it. Never waits for an account that is locked, unless told to, which is for tasks of
 * a single account. Throws when the statement fails, and then has accepted nothing. Some dozens at a time, please.
 */
export async function acceptTogether(
  db: Database,
  tasks: readonly NewTask[],
  { waits }: { readonly waits: boolean },
): Promise<readonly (Accepted | NotTogether)[]> {
  const members = distinctOfOneRate(tasks);
  type Row = { place: number; is_locked: boolean } & (AcceptedRow | { credits: null });
  const answers = new Map<NewTask, Accepted | NotTogether>();
  for (const row of await db.run<Row>(waits ? insertTasksOfOne : insertTasks, valuesOf(members))) {
    const task = members[row.place - 1];
    if (task === undefined) throw new Error(`nobody stands in place ${row.place}`);
    const notAccepted = row.is_locked ? 'locked' : 'left_out';
    answers.set(task, row.credits === null ? notAccepted : acceptedFromRow(task, row));
  }
  return tasks.map((task) => answers.get(task) ?? 'left_out');
}

/** One statement judges all by one rate, and sees none of its own rows: who comes twice must not count twice. */
function distinctOfOneRate(tasks: readonly NewTask[]): readonly NewTask[] {
  const seen = new Set<string>();
  return tasks.filter(({ taskId, accountId, idempotencyKey, createRate }) => {
    const names = idempotencyKey === undefined ? [taskId] : [taskId, `${accountId} ${idempotencyKey}`];
    if (createRate !== tasks[0]?.createRate || names.some((name) => seen.has(name))) return false;
    for (const name of names) seen.add(name);
    return true;
  });
}

function valuesOf(tasks: readonly NewTask[]): unknown[] {
  const lists = [...new Set(tasks.map(({ listedRates }) => listedRates))];
  const listed = lists.flatMap((rates, list) =>
    rates.map((rate): ListedRate & { list: number } => ({ ...rate, list })),
  );
  return [
    tasks.map(({ taskId }) => taskId),
    tasks.map(({ accountId }) => accountId),
    tasks.map(({ keyId }) => keyId),
    tasks.map(({ idempotencyKey }) => idempotencyKey),
    tasks.map(({ param }) => param.model),
    tasks.map(({ param }) => param.input.duration),
    tasks.map(({ listedRates }) => lists.indexOf(listedRates)),
    tasks.map(({ param }) => JSON.stringify(param)),
    tasks.map(({ param }) => param.callBackUrl),
    tasks.map(({ param }) => fingerprint(param)),
    tasks.map(({ dialect = 'native' }) => dialect),
    listed.map(({ list }) => list),
    listed.map(({ creditsPerSecond }) => creditsPerSecond),
    listed.map(({ fromMs }) => fromMs),
    tasks[0]?.createRate?.quota,
    tasks[0]?.createRate?.windowMs,
    tasks.map(({ deadlineMs }) => deadlineMs),
    tasks.map(({ providers }) => providers && JSON.stringify(providers)),
  ];
}

// The rules are those of accept-task.ts, with running sums in the place of one account's figures; each condition holds
// for the first so many tasks of an account and for none after them, so what is accepted is what would have been, one
// by one. The account's rows are locked in their latest version, so that nothing can change until the update. The inner
// selects hide the arrays' lengths from the planner, which would plan each one anew; a select of one value is a look-up
// by key, whatever the planner thinks of the tables.
const acceptText = (lock: string) => `
with asked as materialized (
  select * from unnest((select $1::uuid[]), (select $2::uuid[]), (select $3::uuid[]), (select $4::text[]),
      (select $5::text[]), (select $6::integer[]), (select $7::integer[]), (select $8::json[]), (select $9::text[]),
      (select $10::bytea[]), (select $11::text[]), (select $17::integer[]), (select $18::json[])) with ordinality
    asked (task_id, account_id, key_id, idempotency_key, model, duration, list, param, callback_url, request_sha256,
      dialect, deadline_ms, providers, place)
), listed as materialized (
  select distinct on (list) list, credits
  from unnest((select $12::integer[]), (select $13::integer[]), (select $14::float8[])) listed (list, credits, from_ms)
  where to_timestamp(from_ms / 1000) <= now() order by list, from_ms desc
), account as materialized (
  select id, balance, max_unfinished_tasks - unfinished_tasks as room, create_due_at, suspended_at,
    coalesce(create_quota, $15::integer) as quota, coalesce(create_window_ms, $16::integer) as window_ms
  from accounts where id = any((select $2::uuid[])::uuid[])
  for no key update ${lock}
), limited as materialized (
  select *, clock_timestamp() as at, window_ms * interval '1 millisecond' as burst,
    window_ms * interval '1 millisecond' / quota as step
  from account
), priced as materialized (
  select asked.*, limited.*, duration * coalesce(
    (select credits_per_second from rates where model = asked.model and account_id = asked.account_id and ${inForce}),
    (select credits_per_second from rates where model = asked.model and account_id is null and ${inForce}),
    (select credits from listed where listed.list = asked.list)) as credits
  from asked join limited on limited.id = asked.account_id
  where suspended_at is null and ${keyIsLive('asked.key_id', 'asked.account_id')}
    and (select id from tasks where id = asked.task_id) is null
    and (select id from tasks where account_id = asked.account_id and idempotency_key = asked.idempotency_key) is null
), running as (
  select *, sum(credits) over earlier as spent, row_number() over earlier as nth
  from priced where credits is not null
  window earlier as (partition by account_id order by place rows unbounded preceding)
), accepted as materialized (
  select *, greatest(create_due_at, at) + nth * step as due_at from running
  where spent <= balance and nth <= room and (greatest(create_due_at, at) + nth * step <= at + burst) is not false
), charged as (
  update accounts set balance = accounts.balance - total.spent, unfinished_tasks = unfinished_tasks + total.tasks,
    create_due_at = total.due_at
  from (
    select account_id, max(spent) as spent, max(nth) as tasks, max(due_at) as due_at from accepted group by account_id
  ) total
  where accounts.id = total.account_id
), task as (
  insert into tasks (id, account_id, model, param, credits_charged, callback_url, idempotency_key, request_sha256,
    dialect, deadline_ms, providers)
  select task_id, account_id, model, param, credits, callback_url, idempotency_key, request_sha256, dialect, deadline_ms,
    providers
  from accepted
), entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
  select account_id, task_id, 'charge', -credits, balance - spent from accepted order by place
)
select asked.place, limited.id is null as is_locked, accepted.credits, accepted.quota, accepted.window_ms,
  (extract(epoch from due_at - clock_timestamp()) * 1000)::float8 as due_in_ms
from asked left join limited on limited.id = asked.account_id left join accepted on accepted.place = asked.place`;

const insertTasks = { name: 'accept-tasks', text: acceptText('skip locked') };
const insertTasksOfOne = { name: 'accept-tasks-of-one-account', text: acceptText('') };
