import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ServiceEvent } from '../../../src/run/metrics/service-event.ts';
import { type Database, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import {
  deleteFromOverlongLog,
  type FinishedRequest,
  listOverlongLogs,
} from '../../../src/library/request-log/request-log-rows.ts';
import {
  findLogCutoff,
  insertLoggedRequests,
  listLoggedRequests,
} from '../../../src/library/request-log/request-log-rows.ts';
import { createRequestLog } from '../../../src/library/request-log/request-log-buffer.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const now = Date.now();

function finished(accountId: string, request: Partial<FinishedRequest> = {}): FinishedRequest {
  const none = { keyId: undefined, userId: undefined, tool: undefined, errorCode: undefined, taskId: undefined };
  const rest = { endedAt: now, durationMs: 3, method: 'GET', endpoint: '/api/v1/credits', status: 200 };
  return { ...none, ...rest, requestId: randomUUID(), accountId, ...request };
}

/** A log that writes only when it is drained, and whose statements `fault` may refuse. */
function newLog(fault: () => Error | undefined = () => undefined) {
  const batches: number[] = [];
  const events: ServiceEvent[] = [];
  const run: Database['run'] = (statement, values) => {
    const error = fault();
    if (error !== undefined) return Promise.reject(error);
    const batch: unknown = JSON.parse(String(values?.[0]));
    if (Array.isArray(batch)) batches.push(batch.length);
    return database.db.run(statement, values);
  };
  const requestLog = createRequestLog({
    db: { run },
    log: { warn: () => undefined },
    events: { emit: (event) => events.push(event) },
    delayMs: 3_600_000,
  });
  const dropped = () =>
    events.reduce((sum, event) => sum + (event.kind === 'logged_requests_dropped' ? event.requests : 0), 0);
  return { ...requestLog, batches, dropped };
}

const listed = (accountId: string) => listLoggedRequests(database.db, { accountId, limit: 2_000 });

test('requests are written in statements of at most 500, and a request is written once', async () => {
  const log = newLog();
  const accountId = randomUUID();
  const one = finished(accountId);
  for (const request of [one, one, ...Array.from({ length: 800 }, () => finished(accountId))]) log.add(request);
  await Promise.all([log.drain(), log.drain()]);
  assert.deepEqual(log.batches, [500, 302]);
  const all = await listed(accountId);
  assert.equal(all.length, 801);
  const ids: string[] = [];
  for (let last: string | undefined; ids.length < 801; last = ids.at(-1)) {
    const page = await listLoggedRequests(database.db, { accountId, after: last, limit: 300 });
    assert.ok(page.length > 0, 'requests that end in the same millisecond are on one page each');
    ids.push(...page.map(({ requestId }) => requestId));
  }
  assert.deepEqual(
    ids,
    all.map(({ requestId }) => requestId),
  );
  const other = randomUUID();
  await insertLoggedRequests(database.db, [finished(other, { endedAt: now - 1 })]);
  const foreign = { accountId: other, after: all[0]?.requestId, limit: 10 };
  assert.deepEqual(await listLoggedRequests(database.db, foreign), [], 'a cursor of another account');
  assert.equal(log.dropped(), 0);
});

test('while the database is unavailable requests wait, and those beyond the limit are counted as dropped', async () => {
  let fault: Error | undefined = new DatabaseUnavailableError(true, new Error('down'));
  const log = newLog(() => fault);
  const [early, late] = [randomUUID(), randomUUID()];
  for (let count = 0; count < 1_500; count += 1) log.add(finished(early));
  for (let count = 0; count < 3_499; count += 1) log.add(finished(randomUUID()));
  assert.equal(log.dropped(), 0);
  await log.drain();
  log.add(finished(late));
  log.add(finished(late));
  assert.equal(log.dropped(), 1);
  fault = undefined;
  await log.drain();
  assert.equal((await listed(early)).length, 1_500);
  assert.equal((await listed(late)).length, 1);
  log.add(finished(late));
  await log.drain();
  assert.equal((await listed(late)).length, 2);
});

test('a batch that the database refuses is dropped and counted, and the next one is written', async () => {
  const log = newLog();
  const accountId = randomUUID();
  log.add(finished(accountId, { endpoint: 'x'.repeat(300) }));
  await log.drain();
  assert.equal(log.dropped(), 1);
  log.add(finished(accountId));
  await log.drain();
  assert.equal((await listed(accountId)).length, 1);
});

test('what is beyond the length of the log is found and deleted, of each account and of all', async () => {
  const { db } = database;
  const [long, short] = [randomUUID(), randomUUID()];
  // In the future, so that these are the newest of all.
  const at = (index: number) => ({ endedAt: now + 1_000_000 + index });
  await insertLoggedRequests(db, [
    ...Array.from({ length: 12 }, (_, index) => finished(long, at(index))),
    ...Array.from({ length: 10 }, (_, index) => finished(short, at(index))),
  ]);
  assert.deepEqual(await findLogCutoff(db, 4), { endedAt: now + 1_000_008 });
  const overlong = (await listOverlongLogs(db, 10)).filter(
    ({ accountId }) => accountId === long || accountId === short,
  );
  assert.deepEqual(overlong, [{ accountId: long, endedAt: now + 1_000_001 }]);
  const [log] = overlong;
  assert.ok(log);
  assert.equal((await deleteFromOverlongLog(db, log, 1)).deleted, 1);
  assert.equal((await listed(long)).at(-1)?.endedAt, now + 1_000_001, 'the oldest one goes first');
  assert.equal((await deleteFromOverlongLog(db, log, 10)).deleted, 1);
  assert.deepEqual(
    (await listed(long)).map(({ endedAt }) => endedAt - now - 1_000_000),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
  );
  assert.equal((await listed(short)).length, 10);
});

test('requests are written a second after the first one, and again a second after the database was unavailable', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: number[] = [];
  let isDown = true;
  const run: Database['run'] = (_statement, values) => {
    if (isDown) return Promise.reject(new DatabaseUnavailableError(true, new Error('down')));
    written.push((JSON.parse(String(values?.[0])) as unknown[]).length);
    return Promise.resolve([]);
  };
  const log = createRequestLog({ db: { run }, log: { warn: () => undefined }, events: { emit: () => undefined } });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  log.add(finished(randomUUID()));
  t.mock.timers.tick(1_000);
  await settled();
  isDown = false;
  t.mock.timers.tick(999);
  await settled();
  assert.deepEqual(written, []);
  t.mock.timers.tick(1);
  await settled();
  assert.deepEqual(written, [1]);
  log.add(finished(randomUUID()));
  log.add(finished(randomUUID()));
  t.mock.timers.tick(999);
  await settled();
  assert.deepEqual(written, [1]);
  t.mock.timers.tick(1);
  await settled();
  assert.deepEqual(written, [1, 2]);
  log.add(finished(randomUUID()));
  t.mock.timers.tick(600);
  await log.drain();
  log.add(finished(randomUUID()));
  t.mock.timers.tick(999);
  await settled();
  assert.deepEqual(written, [1, 2, 1], 'a drain ends the wait of the requests before it');
  t.mock.timers.tick(1);
  await settled();
  assert.deepEqual(written, [1, 2, 1, 1]);
});
