import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { createHookLinks, type HintedCall } from '../../../src/domain/hook-link.ts';
import { createRateLimiter } from '../../../src/http/limits/rate-limits.ts';
import { type Database, DatabaseUnavailable } from '../../../src/stores/database.ts';
import { takeHints } from '../../../src/stores/hints.ts';
import { endProviderJob, intendProviderJob } from '../../../src/stores/provider-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { assertRefused, type SendOptions } from '../../support/http-client.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks.ts';

const secret = 's'.repeat(32);
const publicUrl = 'http://hooks.test';
const hookLinks = createHookLinks({ secret, publicUrl });
let database: TestDatabase;
let service: HttpService;
let accountId: string;
let fault: Error | undefined;
const statements: string[] = [];
before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({ database, db: watched(database.db), hookLinks });
  ({ accountId } = await service.newAccount(1_000_000));
});
after(async () => {
  await service.close();
  await database.close();
  assert.ok(!service.log.some((line) => line['errorCode'] === 'internal'), 'a request crashed');
});

function watched(db: Database): Database {
  return {
    ...db,
    run: (statement, values) => {
      statements.push(statement.name);
      return fault === undefined ? db.run(statement, values) : Promise.reject(fault);
    },
  };
}

async function newCall(): Promise<HintedCall> {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('announced'));
  assert.ok(await intendProviderJob(database.db, { taskId, ordinal: 1, provider: 'upstream' }));
  return { taskId, ordinal: 1 };
}

function pathOf(call: HintedCall, links = hookLinks): string {
  return links.urlOf(call).slice(publicUrl.length);
}

function announce(call: HintedCall, options: SendOptions = {}, at = service) {
  return at.send('POST', pathOf(call), options);
}

function hinted({ taskId }: HintedCall): Promise<readonly HintedCall[]> {
  return takeHints(database.db, [taskId]);
}

test('an announcement waits for the worker, once, whatever its body says and however it is spelled', async () => {
  const bodies: readonly SendOptions[] = [
    {},
    { body: '{"status":"failed"}', headers: { 'content-type': 'application/json' } },
    { body: 'no JSON', chunked: true },
    { body: gzipSync('packed'), headers: { 'content-encoding': 'gzip' } },
    { body: Buffer.from([0xff, 0, 0xfe]), headers: { authorization: 'Bearer of the upstream' } },
  ];
  for (const options of bodies) {
    const call = await newCall();
    const { status, json } = await announce(call, options);
    assert.deepEqual([status, json], [200, { code: 200, msg: 'success', data: {} }]);
    assert.equal((await announce(call, options)).status, 200);
    assert.deepEqual([await hinted(call), await hinted(call)], [[call], []]);
  }
});

test('404 a forged address, with no look into the database', async () => {
  const call = await newCall();
  const good = pathOf(call);
  const other = createHookLinks({ secret: 't'.repeat(32), publicUrl });
  const forged = ['/hooks/', '/hooks/x', `${good}x`, `${good}/`, good.slice(0, -1), good.replace('.1.', '.2.')];
  statements.length = 0;
  for (const path of [...forged, pathOf(call, other), good.replace('.', '%2E'), `/hooks/${call.taskId}.1.`])
    assertRefused(await service.send('POST', path, { body: '{}' }), 404, /no such endpoint/);
  assert.deepEqual(statements, []);
  assert.deepEqual(await hinted(call), []);
});

test('405 another method, and no announcement', async () => {
  const call = await newCall();
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await service.send(method, pathOf(call));
    assertRefused(answer, 405, /allowed: OPTIONS, POST/);
    assert.equal(answer.headers['allow'], 'OPTIONS, POST');
  }
  assert.deepEqual(await hinted(call), []);
});

test('413 a giant body; the announcement counts, since nothing of it is read', async () => {
  for (const chunked of [false, true]) {
    const call = await newCall();
    assertRefused(await announce(call, { body: Buffer.alloc(300_000), chunked }), 413, /larger than 256 KiB/);
    assert.deepEqual(await hinted(call), [call]);
  }
});

test('about a job that is over, or that never was, nothing waits', async () => {
  const over = await newCall();
  await announce(over);
  await endProviderJob(database.db, { ...over, outcome: 'abandoned' });
  const never = { ...(await newCall()), ordinal: 7 };
  for (const call of [over, never]) {
    assert.equal((await announce(call)).status, 200);
    assert.deepEqual(await hinted(call), []);
  }
});

test('429 a storm from one address, for as long as it lasts', async () => {
  const hints = createRateLimiter({ quota: 2, windowMs: 3_600_000 });
  const limited = await startHttpService({ database, hookLinks, hints });
  const call = await newCall();
  for (let count = 0; count < 2; count += 1) assert.equal((await announce(call, {}, limited)).status, 200);
  const refused = await announce(call, {}, limited);
  assertRefused(refused, 429, /too many requests/);
  assert.ok(Number(refused.headers['retry-after']) > 0);
  assertRefused(await limited.send('POST', '/hooks/forged'), 404, /no such endpoint/);
  await limited.close();
});

test('503 while the database is away, so that the upstream announces it again', async () => {
  const call = await newCall();
  fault = new DatabaseUnavailable(false, new Error('away'));
  const answer = await announce(call);
  fault = undefined;
  assertRefused(answer, 503, /the database is unavailable/);
});

test('no log has a token', async () => {
  const call = await newCall();
  await announce(call);
  const [, , signature = ''] = pathOf(call).split('.');
  assert.ok(service.log.some(({ path }) => path === '/hooks/'));
  assert.ok(!JSON.stringify(service.log).includes(signature));
});
