import type { Database, Statement } from './database.ts';
import { type AuditScope, checkBooks, checkGuards, type LedgerViolation } from './ledger-rules.ts';

/** Rows that one statement checks: some tens of milliseconds, far from the time limit of a statement. */
const auditPageSize = 2_000;
/** Violations answered at most; one is already an alarm. */
const maxViolations = 1_000;

/**
 * Proves the books over the whole database and answers every violation (at most 1,000). Reads every account, entry and
 * task once, page by page: each rule holds in any snapshot, so no long one is held.
 */
export async function auditLedger(db: Database): Promise<readonly LedgerViolation[]> {
  const violations = [...(await checkGuards(db))];
  for await (const page of everything(db)) {
    violations.push(...(await checkBooks(db, page)));
    if (violations.length >= maxViolations) return violations.slice(0, maxViolations);
  }
  return violations;
}

async function* everything(db: Database): AsyncGenerator<AuditScope> {
  for await (const page of pagesOf(db, accountsAfter, firstUuid)) yield { accounts: idsOf(page) };
  for await (const page of pagesOf(db, entriesAfter, 0)) yield { entries: idsOf(page) };
  for await (const page of pagesOf(db, tasksAfter, firstUuid)) yield { tasks: idsOf(page) };
}

/** Below every UUID that is in use. */
const firstUuid = '00000000-0000-0000-0000-000000000000';
const accountsAfter = pageOf('accounts');
const entriesAfter = pageOf('ledger_entries');
const tasksAfter = pageOf('tasks');

function pageOf(table: string): Statement {
  return { name: `page-of-${table}`, text: `select id from ${table} where id > $1 order by id limit $2` };
}

/** The rows after the given one in the order of the statement, in pages of which the last is not full; `maxPages` at most. */
async function* pagesOf<Id extends string | number | null, Row extends { readonly id: Id } = { readonly id: Id }>(
  db: Database,
  statement: Statement,
  after: Id,
  maxPages = Infinity,
): AsyncGenerator<readonly Row[]> {
  let last = after;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await db.run<Row>(statement, [last, auditPageSize]);
    yield page;
    if (page.length < auditPageSize) return;
    last = page.at(-1)?.id ?? last;
  }
}

function idsOf<Id>(page: readonly { readonly id: Id }[]): readonly Id[] {
  return page.map(({ id }) => id);
}

/** Pages of new rows that one run reads at most: 40,000 entries a minute, beyond which it lags and catches up. */
const maxFreshPages = 20;
/** Pages of old rows that one run reads of each kind: a million tasks are gone over within two hours. */
const passPages = 5;

/**
 * One run of the audit that never ends, with bounded work however large the database is: all that is new since the
 * last run, the next part of a pass over everything, and every violation found before, until it is put right.
 * Remembers and answers what is wrong now. `onPage` is called between statements.
 */
export async function auditNextPart(db: Database, onPage: () => void = () => {}): Promise<readonly LedgerViolation[]> {
  const progress = await readProgress(db);
  const scopes = await db.run<AuditScope>(selectKnown);
  const next = await chooseScopes(db, progress, scopes);
  const found = [...(await checkGuards(db))];
  for (const scope of scopes) {
    found.push(...(await checkBooks(db, scope)));
    onPage();
  }
  const violations = distinct(found).slice(0, maxViolations);
  await remember(db, next, violations);
  return violations;
}

async function chooseScopes(db: Database, progress: Progress, scopes: AuditScope[]): Promise<Progress> {
  return {
    freshEntryId: await addFresh(db, selectFreshEntries, progress.freshEntryId, scopes),
    freshTaskId: await addFresh(db, selectFreshTasks, progress.freshTaskId, scopes),
    passAccountId: await goOn(db, accountsAfter, progress.passAccountId, firstUuid, (accounts) =>
      scopes.push({ accounts }),
    ),
    passEntryId: await goOn(db, entriesAfter, progress.passEntryId, 0, (entries) => scopes.push({ entries })),
    passTaskId: await goOn(db, tasksAfter, progress.passTaskId, firstUuid, (tasks) => scopes.push({ tasks })),
  };
}

type Progress = {
  readonly freshEntryId: number;
  readonly freshTaskId: string | null;
  readonly passEntryId: number;
  readonly passTaskId: string;
  readonly passAccountId: string;
};

const selectProgress = {
  name: 'read-audit-progress',
  text: `
select fresh_entry_id as "freshEntryId", fresh_task_id as "freshTaskId", pass_entry_id as "passEntryId",
  coalesce(pass_task_id, '${firstUuid}') as "passTaskId", coalesce(pass_account_id, '${firstUuid}') as "passAccountId"
from ledger_audit_progress`,
};

async function readProgress(db: Database): Promise<Progress> {
  const [progress] = await db.run<Progress>(selectProgress);
  if (progress === undefined) throw new Error('the row of ledger_audit_progress is gone');
  return progress;
}

const selectKnown = {
  name: 'list-known-violations',
  text: `
select coalesce(array_agg(distinct account_id) filter (where account_id is not null), '{}') as accounts,
  coalesce(array_agg(distinct entry_id::float8) filter (where entry_id is not null), '{}') as entries,
  coalesce(array_agg(distinct task_id) filter (where task_id is not null), '{}') as tasks
from ledger_violations`,
};

// A row is settled once it is older than any statement may run: until then a neighbour with a lower id may still appear,
// so the cursor stays behind it and the next run reads it again.
const settledAfter = `interval '1 minute'`;

const selectFreshEntries = {
  name: 'list-fresh-entries',
  text: `
select id, account_id as "accountId", id as "entryId", task_id as "taskId", created_at < now() - ${settledAfter} as settled
from ledger_entries where id > $1 order by id limit $2`,
};

const selectFreshTasks = {
  name: 'list-freshly-ended-tasks',
  text: `
select id, account_id as "accountId", null::bigint as "entryId", id as "taskId",
  completed_at < now() - ${settledAfter} as settled
from tasks where completed_at is not null
  and (completed_at, id) > (select coalesce(max(completed_at), '-infinity'), coalesce($1, '${firstUuid}'::uuid) from tasks where id = $1)
order by completed_at, id limit $2`,
};

type FreshRow<Id> = { id: Id; accountId: string; entryId: number | null; taskId: string | null; settled: boolean };

/** Adds what is new after the given row, and answers up to where it is settled. */
async function addFresh<Id extends string | number | null>(
  db: Database,
  statement: Statement,
  after: Id,
  scopes: AuditScope[],
): Promise<Id> {
  let settled = after;
  for await (const rows of pagesOf<Id, FreshRow<Id>>(db, statement, after, maxFreshPages)) {
    const entries = rows.flatMap(({ entryId }) => entryId ?? []);
    const tasks = rows.flatMap(({ taskId }) => taskId ?? []);
    scopes.push({ accounts: [...new Set(rows.map(({ accountId }) => accountId))], entries, tasks });
    settled = rows.findLast((row) => row.settled)?.id ?? settled;
  }
  return settled;
}

/** Goes on with the pass over a table and answers where it stopped; from the end it goes back to the beginning. */
async function goOn<Id extends string | number>(
  db: Database,
  statement: Statement,
  after: Id,
  beginning: Id,
  add: (ids: readonly Id[]) => unknown,
): Promise<Id> {
  let last = after;
  for await (const page of pagesOf<Id>(db, statement, after, passPages)) {
    add(idsOf(page));
    last = page.length < auditPageSize ? beginning : (page.at(-1)?.id ?? beginning);
  }
  return last;
}

function distinct(violations: readonly LedgerViolation[]): readonly LedgerViolation[] {
  const key = ({ rule, accountId, entryId, taskId }: LedgerViolation) => [rule, accountId, entryId, taskId].join();
  return [...new Map(violations.map((violation) => [key(violation), violation])).values()];
}

const deleteHealed = {
  name: 'forget-healed-violations',
  text: `
delete from ledger_violations v where not exists (
  select from jsonb_to_recordset($1) as n (rule text, "accountId" uuid, "entryId" bigint, "taskId" uuid)
  where (n.rule, n."accountId", n."entryId", n."taskId") is not distinct from (v.rule, v.account_id, v.entry_id, v.task_id)
)`,
};
const insertFound = {
  name: 'remember-violations',
  text: `
insert into ledger_violations (rule, account_id, entry_id, task_id, detail)
select rule, "accountId", "entryId", "taskId", detail
from jsonb_to_recordset($1) as n (rule text, "accountId" uuid, "entryId" bigint, "taskId" uuid, detail text)
on conflict on constraint one_row_per_violation do update set detail = excluded.detail`,
};
const updateProgress = {
  name: 'write-audit-progress',
  text: `
update ledger_audit_progress set fresh_entry_id = $1, fresh_task_id = $2, pass_entry_id = $3, pass_task_id = $4,
  pass_account_id = $5, audited_at = now()`,
};

async function remember(db: Database, next: Progress, violations: readonly LedgerViolation[]): Promise<void> {
  const rows = JSON.stringify(violations);
  await db.transaction(async (run) => {
    await run(deleteHealed, [rows]);
    await run(insertFound, [rows]);
    const { freshEntryId, freshTaskId, passEntryId, passTaskId, passAccountId } = next;
    await run(updateProgress, [freshEntryId, freshTaskId, passEntryId, passTaskId, passAccountId]);
  });
}

const selectState = {
  name: 'read-audit-state',
  text: `
select (select count(*) from ledger_violations) as violations, coalesce(audited_at, timestamptz 'epoch') as "auditedAt"
from ledger_audit_progress`,
};

/** What the audit of every minute knows: violations not yet put right, and when it last looked (Unix ms, 0 for never). */
export async function readAuditState(
  db: Database,
): Promise<{ readonly violations: number; readonly auditedAt: number }> {
  const [state] = await db.run<{ violations: number; auditedAt: number }>(selectState);
  return state ?? { violations: 0, auditedAt: 0 };
}
