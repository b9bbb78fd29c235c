import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuditBooks } from '../../../activities/maintenance/audit-books.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';

test('each violation of the books is counted', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.close());
  const { db } = database;
  for (const name of ['one', 'two']) await createAccount(db, { name, credits: 10 });
  const { log } = workerParts(db, '', []);
  const events = recordEvents('reconcile_finding');
  const audit = () => silentActivity({ workflowId: 'audit' }, () => createAuditBooks({ db, log, events })('recent'));
  assert.deepEqual([await audit(), events.seen], [{ violations: 0 }, []]);
  await db.run({ name: 'test-wronged', text: 'update accounts set balance = balance + 1' });
  const finding = { kind: 'reconcile_finding', finding: 'ledger_violation' };
  assert.deepEqual([await audit(), events.seen], [{ violations: 2 }, [finding, finding]]);
});
