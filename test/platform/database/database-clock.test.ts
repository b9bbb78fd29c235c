import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readDatabaseTime } from '../../../src/platform/database/database-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('the clock of the database is in Unix milliseconds, and does not stand still in a transaction', async () => {
  await database.db.transaction(async (run) => {
    const text = 'select now() as began, clock_timestamp() as at';
    const readTimes = () => run<{ began: number; at: number }>({ name: 'test-times', text });
    const [first] = await readTimes();
    await run({ name: 'test-pause', text: 'select pg_sleep(0.01)' });
    const { now } = await readDatabaseTime({ run });
    const [last] = await readTimes();
    assert.ok(first !== undefined && last !== undefined);
    assert.equal(first.began, last.began);
    // Times of rows are whole milliseconds.
    assert.ok(now >= first.at + 9 && now < last.at + 1, JSON.stringify([first, now, last]));
  });
});
