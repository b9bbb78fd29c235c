import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { installationSources } from '../../../src/run/metrics/scrape-sources.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { exportScrapedGauges } from '../../../src/run/metrics/export-scraped-gauges.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { runAndRecordAudit } from '../../../src/credits/ledger/ledger-audit.ts';
import { markPaymentsReconciled } from '../../../src/credits/last-checks-and-findings.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordStuckSince } from '../../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { assertSince } from '../../support/assert-since.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let service: HttpService;
let isUnavailable = false;
before(async () => {
  database = await createTestDatabase();
  const metrics = createMetrics();
  const run: typeof database.db.run = (statement, values) =>
    isUnavailable
      ? Promise.reject(new DatabaseUnavailableError(false, new Error('unreachable')))
      : database.db.run(statement, values);
  exportScrapedGauges(metrics.registry, installationSources({ ...database.db, run }, builtInCatalogue), 0);
  service = await startHttpService({ database, metrics: metrics.registry });
});
after(async () => {
  await service.close();
  await database.close();
});

async function metric(name: string): Promise<number> {
  const answer = await service.send('GET', '/metrics');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/plain/);
  const line = answer.bytes
    .toString()
    .split('\n')
    .find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

test('a violation of the books is seen at /metrics until it is put right, also while the database is unavailable', async () => {
  assert.deepEqual(
    [
      await metric('videogen_ledger_violations'),
      await metric('videogen_ledger_audited_timestamp_seconds{kind="recent"}'),
    ],
    [0, 0],
  );
  await createAccount(database.db, { name: 'wronged', credits: 10 });
  const move = (text: string) => database.db.run({ name: text, text });
  await move('update accounts set balance = balance + 1');
  const sinceMs = Date.now();
  await runAndRecordAudit(database.db, 'recent');
  assert.equal(await metric('videogen_ledger_violations'), 1);
  assertSince(sinceMs, 1_000 * (await metric('videogen_ledger_audited_timestamp_seconds{kind="recent"}')));
  isUnavailable = true;
  assert.equal(await metric('videogen_ledger_violations'), 1);
  isUnavailable = false;
  await move('update accounts set balance = balance - 1');
  await runAndRecordAudit(database.db, 'recent');
  assert.equal(await metric('videogen_ledger_violations'), 0);
});

test('tasks whose workflow code fails are seen at /metrics until it goes on or they end', async () => {
  const accountId = await createAccount(database.db, { name: 'stuck', credits: 1_000 });
  const [goesOn, ends] = [
    await acceptTestTask(database.db, accountId, taskParam('goes on')),
    await acceptTestTask(database.db, accountId, taskParam('ends')),
  ];
  assert.equal(await metric('videogen_stuck_tasks'), 0);
  for (const taskId of [goesOn, ends])
    assert.equal((await recordStuckSince(database.db, taskId, Date.now()))?.id, taskId);
  assert.equal(await metric('videogen_stuck_tasks'), 2);
  await recordStuckSince(database.db, goesOn, undefined);
  await failAndRefund(database.db, ends, { failCode: 'internal', failMsg: 'A test.' });
  assert.equal(await metric('videogen_stuck_tasks'), 0);
});

test('the last reconciliation of payments has a series only where credits are sold, with 0 before the first', async () => {
  const read = async (sellsCredits: boolean) => {
    const { registry } = createMetrics();
    exportScrapedGauges(registry, installationSources(database.db, builtInCatalogue, { sellsCredits }), 0);
    const line = /^videogen_payments_reconciled_timestamp_seconds (.+)$/m.exec(await registry.metrics());
    return line === null ? undefined : Number(line[1]);
  };
  assert.deepEqual([await read(false), await read(true)], [undefined, 0]);
  const sinceMs = Date.now();
  await markPaymentsReconciled(database.db);
  assertSince(sinceMs, Math.round(1_000 * ((await read(true)) ?? 0)));
  assert.equal(await read(false), undefined);
});
