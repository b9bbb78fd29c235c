import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findAccountLimitUse } from '../../../src/library/limits/account-limit-use.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('the use of limits is that of one account: its tasks, its rate, its files, and its keys that still work', () =>
  rolledBack(database.db, async (db) => {
    const [one, other, idle] = [randomUUID(), randomUUID(), randomUUID()];
    const account = (id: string, row: Readonly<Record<string, unknown>>) =>
      insertRow(db, 'accounts', { id, name: 'an account', ...row });
    await account(one, {
      unfinished_tasks: 3,
      max_unfinished_tasks: 40,
      create_quota: 7,
      create_window_ms: 9_000,
      create_due_at: ago(-2_500),
    });
    await account(other, { unfinished_tasks: 5, max_unfinished_tasks: 60, create_due_at: ago(1) });
    await account(idle, {});
    const upload = (of: string, bytes: number) =>
      insertRow(db, 'uploads', { id: randomUUID(), account_id: of, file_name: 'image.jpg', bytes, expires_at: ago(1) });
    for (const bytes of [10, 200]) await upload(one, bytes);
    for (const bytes of [1_000, 2_000, 4_000]) await upload(other, bytes);
    const key = (of: string, row: Readonly<Record<string, unknown>> = {}) =>
      insertRow(db, 'api_keys', {
        id: randomUUID(),
        account_id: of,
        name: 'a key',
        hash: randomBytes(32),
        hint: 'hint',
        scopes: [],
        ...row,
      });
    await key(one);
    await key(one, { expires_at: ago(-1) });
    await key(one, { expires_at: ago(0) });
    await key(one, { revoked_at: ago(1) });
    for (let keys = 0; keys < 4; keys += 1) await key(other);
    assert.deepEqual(await findAccountLimitUse(db, one), {
      unfinishedTasks: 3,
      maxUnfinishedTasks: 40,
      createRate: { quota: 7, windowMs: 9_000 },
      createDueInMs: 2_500,
      uploads: 2,
      uploadedBytes: 210,
      activeKeys: 2,
    });
    assert.deepEqual(await findAccountLimitUse(db, other), {
      unfinishedTasks: 5,
      maxUnfinishedTasks: 60,
      createRate: undefined,
      createDueInMs: 0,
      uploads: 3,
      uploadedBytes: 7_000,
      activeKeys: 4,
    });
    assert.deepEqual(await findAccountLimitUse(db, idle), {
      unfinishedTasks: 0,
      maxUnfinishedTasks: 1_000,
      createRate: undefined,
      createDueInMs: 0,
      uploads: 0,
      uploadedBytes: 0,
      activeKeys: 0,
    });
    assert.equal(await findAccountLimitUse(db, randomUUID()), undefined);
  }));
