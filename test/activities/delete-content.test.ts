import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deleteContent } from '../../activities/delete-content.ts';
import { closeAccountAs } from '../../src/stores/account-closure.ts';
import { findTask, refundTask } from '../../src/stores/tasks.ts';
import { activityDeps } from '../support/activity-deps.ts';
import { createTestDatabase } from '../support/database.ts';
import { createTestAccount } from '../support/service.ts';
import { silentActivity } from '../support/silent-activity.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

test('a closed account that cannot be emptied delays no other one', async () => {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'videogen-delete-'));
  const { db } = database;
  try {
    const [stuck, other] = [await createTestAccount(database), await createTestAccount(database)];
    // A whole page of images, and the store deletes none.
    const text = `insert into uploads (id, account_id, bytes, expires_at)
      select gen_random_uuid(), $1, 1, now() + interval '1 day' from generate_series(1, 200)`;
    await db.run({ name: 'test-uploads', text }, [stuck.accountId]);
    const taskId = await acceptTestTask(db, other.accountId, taskParam('a secret'));
    await refundTask(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
    for (const { accountId } of [stuck, other])
      await closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'asked for' });

    const given = activityDeps(db, folder, []);
    const failed: object[] = [];
    const deps = {
      ...given,
      engine: { ...given.engine, forgetTask: () => Promise.resolve(true) },
      media: {
        ...given.media,
        delete: (key: string) =>
          key.startsWith('uploads/') ? Promise.reject(new Error('the store is away')) : given.media.delete(key),
      },
      onFinding: (finding: string) => void failed.push({ finding }),
    };
    await silentActivity({ workflowId: 'reconcile' }, () => deleteContent(deps, 1_000));
    assert.ok(failed.length > 200, 'the images, and their page');
    assert.notEqual((await findTask(db, taskId))?.contentDeletedAt, undefined);
    const done = `select account_id as "accountId" from account_closures where finished_at is not null`;
    assert.deepEqual(await db.run({ name: 'test-done', text: done }), [{ accountId: other.accountId }]);
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
});
