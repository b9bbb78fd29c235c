import type { Database, Statement } from './database.ts';
import { type AuditScope, checkBooks, checkGuards, type LedgerViolation } from './ledger-rules.ts';
import { none, one } from './statement.ts';

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
  for (const { statement, first } of passes) {
    for await (const page of pagesOf(db, statement, first)) {
      violations.push(...(await checkBooks(db, scopeOf(page))));
      if (violations.length >= maxViolations) return violations.slice(0, maxViolations);
    }
  }
  return violations;
}

type Id = string | number | null;

/** What the audit is to look at because of one row, whose id the next page goes on from. */
type Row = {
  readonly id: Id;
  readonly accountId?: string | null;
  readonly entryId?: number | null;
  readonly taskId?: string | null;
  /** False for a row that the next run must read again. */
  readonly isSettled: boolean;
};

/** The rows after the given one in the order of the statement, in pages of which the last is not full; `maxPages` at most. */
async function* pagesOf(
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

function scopeOf(page: readonly Row[]): AuditScope {
  return {
    accounts: [...new Set(page.flatMap(({ accountId }) => accountId ?? []))],
    entries: page.flatMap(({ entryId }) => entryId ?? []),
    tasks: page.flatMap(({ taskId }) => taskId ?? []),
  };
}

/** A place in a table, which is kept in a column of `ledger_audit_progress`; null there is the beginning. */
type Cursor = {
  readonly column: string;
  readonly statement: Statement;
  readonly first: Id;
  readonly maxPages: number;
  /** Whether it goes over everything, again and again. */
  readonly isPass: boolean;
};

/** Below every UUID that is in use. */
const firstUuid = '00000000-0000-0000-0000-000000000000';

/** A part of old rows in each run: a million tasks are gone over within two hours. */
const passOver = (table: string, { column, id, first }: { column: string; id: string; first: Id }): Cursor => ({
  column,
  statement: {
    name: `page-of-${table}`,
    text: `select id, id as "${id}", true as "isSettled" from ${table} where id > $1 order by id limit $2`,
  },
  first,
  maxPages: 5,
  isPass: true,
});
const passes = [
  passOver('accounts', { column: 'pass_account_id', id: 'accountId', first: firstUuid }),
  passOver('ledger_entries', { column: 'pass_entry_id', id: 'entryId', first: 0 }),
  passOver('tasks', { column: 'pass_task_id', id: 'taskId', first: firstUuid }),
];

/** New rows that one run reads at most: 40,000 entries a minute, beyond which it lags and catches up. */
const followFresh = { maxPages: 20, isPass: false };

// A row is settled once it is older than any statement may run: until then a neighbour with a lower id may still appear,
// so the cursor stays behind it and the next run reads it again.
const settledAfter = `interval '1 minute'`;

const freshEntries = {
  name: 'list-fresh-entries',
  text: `
select id, account_id as "accountId", id as "entryId", task_id as "taskId", created_at < now() - ${settledAfter} as "isSettled"
from ledger_entries where id > $1 order by id limit $2`,
};
const freshTasks = {
  name: 'list-freshly-ended-tasks',
  text: `
select id, account_id as "accountId", id as "taskId", completed_at < now() - ${settledAfter} as "isSettled"
from tasks where completed_at is not null
  and (completed_at, id) > (select coalesce(max(completed_at), '-infinity'), coalesce($1, '${firstUuid}'::uuid) from tasks where id = $1)
order by completed_at, id limit $2`,
};

const cursors: readonly Cursor[] = [
  { column: 'fresh_entry_id', statement: freshEntries, first: 0, ...followFresh },
  { column: 'fresh_task_id', statement: freshTasks, first: null, ...followFresh },
  ...passes,
];

/** Adds what comes after the cursor to what is to be checked, and answers where it stands then. */
async function advance(db: Database, cursor: Cursor, after: Id, scopes: AuditScope[]): Promise<Id> {
  const { statement, first, maxPages, isPass } = cursor;
  let next = after;
  for await (const page of pagesOf(db, statement, after, maxPages)) {
    scopes.push(scopeOf(page));
    next = page.findLast(({ isSettled }) => isSettled)?.id ?? next;
    if (isPass && page.length < auditPageSize) next = first;
  }
  return next;
}

/**
 * One run of the audit that never ends, with bounded work however large the database is: all that is new since the
 * last run, the next part of a pass over everything, and every violation found before, until it is put right.
 * Remembers and answers what is wrong now. `onPage` is called between statements.
 */
export async function auditNextPart(db: Database, onPage: () => void = () => {}): Promise<readonly LedgerViolation[]> {
  const progress = await readProgress(db);
  const scopes = [await readKnown(db)];
  const next: Id[] = [];
  for (const cursor of cursors) next.push(await advance(db, cursor, progress[cursor.column] ?? cursor.first, scopes));
  const found = [...(await checkGuards(db))];
  for (const scope of scopes) {
    found.push(...(await checkBooks(db, scope)));
    onPage();
  }
  const violations = distinct(found).slice(0, maxViolations);
  await db.transaction(async (run) => {
    await forgetViolations({ run });
    await rememberViolations({ run }, JSON.stringify(violations));
    await writeProgress({ run }, ...next);
  });
  return violations;
}

const readProgress = one<Readonly<Record<string, Id>>>({
  name: 'read-audit-progress',
  text: `select ${cursors.map(({ column }) => column).join()} from ledger_audit_progress`,
});

const readKnown = one<AuditScope>({
  name: 'list-known-violations',
  text: `
select array(select distinct account_id from ledger_violations where account_id is not null) as accounts,
  array(select distinct entry_id::float8 from ledger_violations where entry_id is not null) as entries,
  array(select distinct task_id from ledger_violations where task_id is not null) as tasks`,
});

function distinct(violations: readonly LedgerViolation[]): readonly LedgerViolation[] {
  const key = ({ rule, accountId, entryId, taskId }: LedgerViolation) => [rule, accountId, entryId, taskId].join();
  return [...new Map(violations.map((violation) => [key(violation), violation])).values()];
}

const forgetViolations = none({ name: 'forget-violations', text: 'delete from ledger_violations' });
// Another run at the same time may have found the same ones.
const rememberViolations = none<[violations: string]>({
  name: 'remember-violations',
  text: `
insert into ledger_violations (rule, account_id, entry_id, task_id, detail)
select rule, "accountId", "entryId", "taskId", detail
from jsonb_to_recordset($1) as n (rule text, "accountId" uuid, "entryId" bigint, "taskId" uuid, detail text)
on conflict do nothing`,
});
const writeProgress = none({
  name: 'write-audit-progress',
  text: `
update ledger_audit_progress set audited_at = now(), ${cursors.map(({ column }, i) => `${column} = $${i + 1}`).join()}`,
});

type AuditState = { readonly violations: number; readonly auditedAt: number };

/** What the audit of every minute knows: violations not yet put right, and when it last looked (Unix ms, 0 for never). */
export const readAuditState = one<AuditState>({
  name: 'read-audit-state',
  text: `
select (select count(*) from ledger_violations) as violations, coalesce(audited_at, timestamptz 'epoch') as "auditedAt"
from ledger_audit_progress`,
});
