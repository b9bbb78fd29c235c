import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { readTaskTiers, saveTaskTiers } from '../../../src/tasks/jobs/stored-task-tiers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { modelsAt } from '../../support/tasks/fake-providers.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

/** The tiers of a model whose text has so many bytes. */
function tiersOf(bytes: number) {
  const [model] = modelsAt(['a']).values();
  const [[entry] = []] = model?.tiers ?? [];
  const tiersWith = (pad: string) => [[{ ...(entry ?? assert.fail()), parameters: { pad } }]];
  return tiersWith('x'.repeat(bytes - JSON.stringify(tiersWith('')).length));
}

test('the tiers of a task are those of its last save; of more than 64 KiB nothing is saved', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'test', credits: 1_000 });
  const taskId = await acceptTestTask(db, accountId, taskParam('waits'));
  assert.equal(await readTaskTiers(db, taskId), undefined);
  const [small, largest, tooLarge] = [tiersOf(1_000), tiersOf(65_536), tiersOf(65_537)];
  for (const [saved, read] of [
    [small, small],
    [largest, largest],
    [tooLarge, largest],
  ] as const) {
    await saveTaskTiers(db, taskId, saved);
    assert.deepEqual(await readTaskTiers(db, taskId), { tiers: read });
  }
});
