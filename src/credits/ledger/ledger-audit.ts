import type { Database } from '../../platform/database/database.ts';
import { type IdsToAudit, findLedgerViolationsByIds, checkGuards, type LedgerViolation } from './audit-rules.ts';
import { many, noRows, one } from '../../platform/database/declare-statements.ts';

/** A statement checks a page in some tens of milliseconds. */
const auditPageSize = 2_000;
/** Caps are compared with all tasks of their period, which may be those of years. */
const cappedPageSize = 20;
const maxViolations = 1_000;

/**
 * Checks the whole database and returns at most 1,000 violations. Each rule holds in any snapshot, so each page has a snapshot of its
 * own. `onPage` is called between statements.
 */
export function auditLedger(db: Database, onPage = () => {}): Promise<readonly LedgerViolation[]> {
  return check(db, [accountsAfter, entriesAfter, tasksAfter, cappedAfter], {}, onPage);
}

/** `recent`: the rows changed since the last audit, and known violations. */
export type AuditKind = 'recent' | 'full';

/** Audits and records violations. A violation stays recorded until an audit finds it corrected. */
export async function runAndRecordAudit(
  db: Database,
  kind: AuditKind,
  onPage = () => {},
): Promise<readonly LedgerViolation[]> {
  const start = await readAuditStart(db);
  const violations = await (kind === 'full' ? auditLedger(db, onPage) : auditRecent(db, start, onPage));
  await recordAudit(db, JSON.stringify(violations), kind === 'full', start.startedAtUs);
  return violations;
}

async function auditRecent(
  db: Database,
  { sinceMs, entryId, accounts, entries, tasks }: AuditStart,
  onPage: () => void,
): Promise<readonly LedgerViolation[]> {
  const passes: readonly Pass[] = [
    (run, last, limit) => recentEntriesAfter(run, last ?? entryId, limit),
    (run, last, limit) => tasksCreatedAfter(run, last, limit, sinceMs),
    (run, last, limit) => tasksEndedAfter(run, last, limit, sinceMs),
    (run, last) => recentlyCappedAfter(run, last, cappedPageSize, entryId),
  ];
  return check(db, passes, { accounts, entries, tasks, capped: accounts }, onPage);
}

type Id = string | number;
type Row = {
  readonly id: Id;
  readonly accountId?: string;
  readonly entryId?: number;
  readonly taskId?: string;
  readonly cappedId?: string;
};
/** Returns the page after `last`, which is empty only at the end. */
type Pass = (db: Database, last: Id | undefined, limit: number) => Promise<readonly Row[]>;

async function check(
  db: Database,
  passes: readonly Pass[],
  known: IdsToAudit,
  onPage: () => void,
): Promise<readonly LedgerViolation[]> {
  const found = [...(await checkGuards(db)), ...(await findLedgerViolationsByIds(db, known))];
  for (const pass of passes) {
    let last: Id | undefined;
    do {
      const page = await pass(db, last, auditPageSize);
      found.push(...(await findLedgerViolationsByIds(db, scopeOf(page))));
      onPage();
      last = page.at(-1)?.id;
    } while (last !== undefined && found.length < maxViolations);
  }
  return distinct(found).slice(0, maxViolations);
}

function scopeOf(page: readonly Row[]): IdsToAudit {
  return {
    accounts: [...new Set(page.flatMap(({ accountId }) => accountId ?? []))],
    entries: page.flatMap(({ entryId }) => entryId ?? []),
    tasks: page.flatMap(({ taskId }) => taskId ?? []),
    capped: page.flatMap(({ cappedId }) => cappedId ?? []),
  };
}

function distinct(violations: readonly LedgerViolation[]): readonly LedgerViolation[] {
  const key = ({ rule, accountId, entryId, taskId }: LedgerViolation) => [rule, accountId, entryId, taskId].join();
  return [...new Map(violations.map((violation) => [key(violation), violation])).values()];
}

type Page = [last: Id | undefined, limit: number];

const accountsAfter = many<Row, Page>({
  name: 'page-of-accounts',
  text: `select id, id as "accountId" from accounts where $1::uuid is null or id > $1 order by id limit $2`,
});
const entriesAfter = many<Row, Page>({
  name: 'page-of-ledger-entries',
  text: `select id, id as "entryId" from ledger_entries where id > coalesce($1::bigint, 0) order by id limit $2`,
});
const tasksAfter = many<Row, Page>({
  name: 'page-of-tasks',
  text: `select id, id as "taskId" from tasks where $1::uuid is null or id > $1 order by id limit $2`,
});
const cappedAccounts = (where: string) => `
select distinct account_id as id, account_id as "cappedId" from spend_caps
where ($1::uuid is null or account_id > $1) ${where} order by 1 limit $2`;
const pageOfCapped = many<Row, Page>({ name: 'page-of-capped-accounts', text: cappedAccounts('') });
const cappedAfter: Pass = (db, last) => pageOfCapped(db, last, cappedPageSize);
const recentlyCappedAfter = many<Row, [...Page, entryId: number]>({
  name: 'page-of-recently-capped-accounts',
  text: cappedAccounts('and exists (select from ledger_entries where account_id = spend_caps.account_id and id > $3)'),
});
const recentEntriesAfter = many<Row, Page>({
  name: 'list-recent-entries',
  text: `
select id, account_id as "accountId", id as "entryId", task_id as "taskId"
from ledger_entries where id > $1 order by id limit $2`,
});
// A task may lack its charge, and success adds no entry, so tasks are also found by their times.
const recentTasksAfter = (event: 'created' | 'completed') =>
  many<Row, [...Page, sinceMs: number]>({
    name: `list-recently-${event}-tasks`,
    text: `
select id, account_id as "accountId", id as "taskId" from tasks
where ${event}_at >= to_timestamp($3::float8 / 1000)
  and ($1::uuid is null or (${event}_at, id) > (select ${event}_at, id from tasks where id = $1))
order by ${event}_at, id limit $2`,
  });
const tasksCreatedAfter = recentTasksAfter('created');
const tasksEndedAfter = recentTasksAfter('completed');

type AuditStart = Required<Omit<IdsToAudit, 'capped'>> & {
  readonly startedAtUs: number;
  readonly sinceMs: number;
  readonly entryId: number;
};

// The audit begins ten minutes before the last one, because statements that ran at that time may have committed older rows afterwards.
// Charges and refunds have no index of their times, so the newest older entry is found from the end.
const readAuditStart = one<AuditStart>({
  name: 'read-audit-start',
  text: `
select (extract(epoch from now()) * 1000000)::bigint as "startedAtUs", (extract(epoch from since) * 1000)::bigint as "sinceMs",
  coalesce((select id from ledger_entries where created_at < since order by id desc limit 1), 0)::bigint as "entryId",
  array(select distinct account_id from ledger_violations where account_id is not null) as accounts,
  array(select distinct entry_id::float8 from ledger_violations where entry_id is not null) as entries,
  array(select distinct task_id from ledger_violations where task_id is not null) as tasks
from (select coalesce(audited_at, 'epoch') - interval '10 minutes' as since from maintenance) start`,
});

// Violations that a concurrent audit has recorded since the start of this one stay. The next audit begins where this one began.
const recordAudit = noRows<[violations: string, isFull: boolean, startedAtUs: number]>({
  name: 'record-audit',
  text: `
with started as (
  select timestamptz 'epoch' + $3::float8 * interval '1 microsecond' as at
), found as (
  select * from jsonb_to_recordset($1) as n (rule text, "accountId" uuid, "entryId" bigint, "taskId" uuid, detail text)
), corrected as (
  delete from ledger_violations v using started where found_at < started.at and not exists (
    select from found where v.rule = found.rule and (v.account_id, v.entry_id, v.task_id)
      is not distinct from ("accountId", "entryId", "taskId"))
), recorded as (
  insert into ledger_violations (rule, account_id, entry_id, task_id, detail)
  select rule, "accountId", "entryId", "taskId", detail from found on conflict do nothing
)
update maintenance set audited_at = greatest(audited_at, started.at),
  fully_audited_at = case when $2 then started.at else fully_audited_at end
from started`,
});

/** A newer release may have recorded a rule that this one does not know. */
type FoundViolation = Omit<LedgerViolation, 'rule'> & {
  readonly rule: string;
  readonly accountName: string | undefined;
  readonly foundAt: number;
};

/** Violations of ledger rules that are not corrected, the oldest first, at most 100. */
export const listViolations = many<FoundViolation>({
  name: 'list-violations',
  text: `
select rule, account_id as "accountId", (select name from accounts where id = account_id) as "accountName", entry_id as "entryId", task_id as "taskId", detail, found_at as "foundAt"
from ledger_violations order by found_at, rule limit 100`,
});
