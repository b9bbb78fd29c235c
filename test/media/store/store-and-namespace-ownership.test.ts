import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, test, type TestContext } from 'node:test';
import {
  overwriteStoreAndNamespaceOwner,
  claimTemporalNamespaceOrFindProblem,
  claimStoresOrFindProblem,
  findOwnershipProblem,
} from '../../../src/media/store/store-and-namespace-ownership.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { mockTimers } from '../../support/mock-timers.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());
beforeEach(() => forgetStores());

async function forgetStores(): Promise<void> {
  const text = 'update installation set marked_at = null, claimed_at = null, temporal_namespace = null';
  await database.db.run({ name: 'test-forget-stores', text });
}

async function folders(t: TestContext) {
  const base = await temporaryFolder(t);
  const stores = (name: string, also?: string) => ({
    resultStore: { kind: 'folder', path: join(base, name) } as const,
    ...(also !== undefined && { resultStoreAlso: { kind: 'folder', path: join(base, also) } as const }),
  });
  const check = async (name: string, also?: string, db = database.db) =>
    (await claimStoresOrFindProblem(db, stores(name, also)))?.reason;
  const markerOf = (name: string) => readFile(join(base, name, '.installation'), 'utf8').catch(() => undefined);
  return { base, stores, check, markerOf };
}

test('the first process marks its empty store; one with another folder is refused, and writes nothing there', async (t) => {
  const { base, check, markerOf } = await folders(t);
  assert.deepEqual([await check('results'), await check('results')], [undefined, undefined]);
  assert.match(String(await markerOf('results')), /^[0-9a-f-]{36}\n$/);
  assert.equal(await check('own'), `RESULT_STORE (${join(base, 'own')}) is not the store of this installation`);
  assert.equal(await markerOf('own'), undefined);
});

test('of two first processes with different stores one is refused', async (t) => {
  const { check } = await folders(t);
  const found = await Promise.all([check('one'), check('two')]);
  assert.deepEqual(found.filter((reason) => reason === undefined).length, 1);
});

test('the store of another installation is refused, also beside our own', async (t) => {
  const { base, check, stores } = await folders(t);
  await check('results');
  await mkdir(join(base, 'strange'));
  await writeFile(join(base, 'strange', '.installation'), '019abc12-3456-7def-8901-234567890abc\n');
  assert.match(String(await check('strange')), /RESULT_STORE .* belongs to another installation/);
  assert.match(String(await check('results', 'strange')), /RESULT_STORE_ALSO .* belongs to another installation/);
  const remedyOf = async (...names: [string, string?]) =>
    (await claimStoresOrFindProblem(database.db, stores(...names)))?.remedy ?? '';
  const adopt = ' to that of the other processes.*"videogen media adopt"';
  assert.match(await remedyOf('strange'), new RegExp(`Set RESULT_STORE${adopt}`));
  assert.match(await remedyOf('unmarked'), new RegExp(`Set RESULT_STORE${adopt}`));
  assert.match(await remedyOf('results', 'strange'), new RegExp(`Set RESULT_STORE_ALSO${adopt}`));
  await claimTemporalNamespaceOrFindProblem(database.db, 'videogen');
  const { remedy } = (await claimTemporalNamespaceOrFindProblem(database.db, 'test')) ?? {};
  assert.match(String(remedy), new RegExp(`Set TEMPORAL_NAMESPACE${adopt}`));
});

test('a move to another store marks it while it is the second one, and the old one may then be removed', async (t) => {
  const { base, check } = await folders(t);
  assert.equal(await check('old'), undefined);
  assert.equal(await check('old', 'new'), undefined);
  assert.equal(await check('new', 'old'), undefined);
  await rm(join(base, 'old'), { recursive: true });
  assert.equal(await check('new'), undefined);
});

test('a store that lost its marker, such as an unmounted volume, is refused until an operator adopts it', async (t) => {
  const { base, check, stores } = await folders(t);
  await check('results');
  await rm(join(base, 'results'), { recursive: true });
  assert.match(String(await check('results')), /is not the store of this installation/);
  await overwriteStoreAndNamespaceOwner(database.db, stores('results'), 'default');
  assert.equal(await check('results'), undefined);
});

test('a worker with another namespace than the first one is refused; doctor changes nothing', async (t) => {
  const { stores, check, markerOf } = await folders(t);
  const inspect = async (name: string, namespace: string) =>
    (await findOwnershipProblem(database.db, stores(name), namespace))?.reason;
  assert.equal(await inspect('results', 'videogen'), undefined);
  assert.equal(await markerOf('results'), undefined);
  assert.equal(await claimTemporalNamespaceOrFindProblem(database.db, 'videogen'), undefined);
  const other = 'TEMPORAL_NAMESPACE is test, and this installation uses videogen';
  assert.equal((await claimTemporalNamespaceOrFindProblem(database.db, 'test'))?.reason, other);
  await check('results');
  assert.equal(await inspect('results', 'test'), other);
  assert.match(String(await inspect('own', 'videogen')), /is not the store of this installation/);
});

test('a process that died while it marked its store is replaced', async (t) => {
  const { check } = await folders(t);
  const text = `update installation set claimed_at = now() - interval '61 seconds'`;
  await database.db.run({ name: 'test-old-claim', text });
  assert.equal(await check('results'), undefined);
});

test('a process waits five seconds for another one to mark its store, whose claim ends after a minute', async (t) => {
  const { check, markerOf } = await folders(t);
  const text = `update installation set claimed_at = now() - interval '50 seconds'`;
  const renewClaim = () => database.db.run({ name: 'test-claim', text });
  await renewClaim();
  mockTimers(t, { apis: ['setTimeout'] });
  let claims = 0;
  const run: Database['run'] = async (statement, values) => {
    const rows = await database.db.run(statement, values);
    if (statement.name !== 'claim-stores') return rows as never;
    claims += 1;
    // The claim does not age with the machine.
    await renewClaim();
    setImmediate(() => t.mock.timers.tick(250));
    return rows as never;
  };
  const db = { ...database.db, run };
  await assert.rejects(check('results', undefined, db), /another process has not marked its result store yet/);
  assert.equal(claims, 20);
  assert.equal(await markerOf('results'), undefined);
});

test('an operator adopts both stores and the namespace, for the next processes', async (t) => {
  const { stores, check, markerOf } = await folders(t);
  assert.equal(await claimTemporalNamespaceOrFindProblem(database.db, 'old'), undefined);
  await check('elsewhere');
  await overwriteStoreAndNamespaceOwner(database.db, stores('one', 'two'), 'new');
  const marker = await markerOf('elsewhere');
  assert.deepEqual([await markerOf('one'), await markerOf('two')], [marker, marker]);
  assert.deepEqual([await check('one'), await check('two', 'one')], [undefined, undefined]);
  assert.equal(await claimTemporalNamespaceOrFindProblem(database.db, 'new'), undefined);
  assert.notEqual(await claimTemporalNamespaceOrFindProblem(database.db, 'old'), undefined);
});

test('an adoption is the first mark of an installation without one', async (t) => {
  const { base, stores, check } = await folders(t);
  await overwriteStoreAndNamespaceOwner(database.db, stores('one'), 'default');
  assert.equal(await check('two'), `RESULT_STORE (${join(base, 'two')}) is not the store of this installation`);
});
