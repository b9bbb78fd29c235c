import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deleteCursor, readCursor, saveCursor } from '../../../src/platform/database/sweep-cursors.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('each loop has its own position, which the next save replaces and a deletion removes', async () => {
  const { db } = database;
  const positions = () => Promise.all(['files', 'tasks'].map(async (name) => readCursor(db, name)));
  assert.deepEqual(await positions(), [undefined, undefined]);
  await saveCursor(db, 'files', JSON.stringify(['2026-01-05', 7]));
  assert.deepEqual(await positions(), [{ row: ['2026-01-05', 7] }, undefined]);
  await saveCursor(db, 'tasks', JSON.stringify({ id: 'a' }));
  await saveCursor(db, 'files', JSON.stringify(['2026-01-06', 8]));
  assert.deepEqual(await positions(), [{ row: ['2026-01-06', 8] }, { row: { id: 'a' } }]);
  await deleteCursor(db, 'files');
  assert.deepEqual(await positions(), [undefined, { row: { id: 'a' } }]);
});
