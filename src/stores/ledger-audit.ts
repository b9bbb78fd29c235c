import type { Database, Statement } from './database.ts';
import { type AuditScope, checkBooks, checkGuards, type LedgerViolation } from './ledger-rules.ts';

/** Rows that one statement checks: some tens of milliseconds, far from the time limit of a statement. */
export const auditPageSize = 2_000;
/** Violations answered at most; one is already an alarm. */
export const maxViolations = 1_000;

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

export const emptyScope: AuditScope = { accounts: [], entries: [], tasks: [] };

async function* everything(db: Database): AsyncGenerator<AuditScope> {
  for await (const accounts of pagesOf(db, accountsAfter, firstUuid)) yield { ...emptyScope, accounts };
  for await (const entries of pagesOf(db, entriesAfter, 0)) yield { ...emptyScope, entries };
  for await (const tasks of pagesOf(db, tasksAfter, firstUuid)) yield { ...emptyScope, tasks };
}

async function* pagesOf<Id extends string | number>(db: Database, statement: Statement, before: Id) {
  let last: Id | undefined = before;
  while (last !== undefined) {
    const page: readonly Id[] = await pageAfter(db, statement, last);
    if (page.length > 0) yield page;
    last = page.length < auditPageSize ? undefined : page.at(-1);
  }
}

/** Below every UUID that is in use. */
export const firstUuid = '00000000-0000-0000-0000-000000000000';
export const accountsAfter = pageOf('accounts');
export const entriesAfter = pageOf('ledger_entries');
export const tasksAfter = pageOf('tasks');

function pageOf(table: string): Statement {
  return { name: `page-of-${table}`, text: `select id from ${table} where id > $1 order by id limit $2` };
}

/** The next ids after the given one, in order, a page of them. */
export async function pageAfter<Id extends string | number>(
  db: Database,
  statement: Statement,
  after: Id,
): Promise<readonly Id[]> {
  return (await db.run<{ id: Id }>(statement, [after, auditPageSize])).map(({ id }) => id);
}
