import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuditBooksActivity } from '../../../activities/maintenance/audit-books.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { recordLog } from '../../support/log-lines.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';

test('each violation of the books is counted and logged', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.close());
  const { db } = database;
  const accountIds: string[] = [];
  for (const name of ['one', 'two']) accountIds.push(await createAccount(db, { name, credits: 10 }));
  const { log, lines } = recordLog();
  const events = recordEvents('reconcile_finding');
  const audit = () =>
    silentActivity({ workflowId: 'audit' }, () => createAuditBooksActivity({ db, log, events })('recent'));
  assert.deepEqual([await audit(), events.seen], [{ violations: 0 }, []]);
  await db.run({ name: 'test-wronged', text: 'update accounts set balance = balance + 1' });
  const finding = { kind: 'reconcile_finding', finding: 'ledger_violation' };
  assert.deepEqual([await audit(), events.seen], [{ violations: 2 }, [finding, finding]]);
  const rule = { rule: 'balance_is_that_of_last_entry', detail: 'balance 11, last entry 10' };
  assert.deepEqual(
    lines.toSorted((one, other) => String(one['accountId']).localeCompare(String(other['accountId']))),
    accountIds.toSorted().map((accountId) => ({ level: 50, accountId, ...rule, msg: 'ledger violation found' })),
  );
});
