import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersWithoutFullIndex, readsAllTasks } from '../../../src/tasks/list/filters-without-index.ts';

const search = { taskId: undefined, idPart: 'cafe', words: undefined };
const wholeId = { ...search, taskId: '01900000-0000-7000-8000-000000000000' };

test('the filters that no index over all accounts finds read all tasks, unless they are about one account', () => {
  assert.deepEqual(filtersWithoutFullIndex, ['model', 'createdBy', 'provider', 'search']);
  const accountId = 'an account';
  for (const filter of [{ model: 'm' }, { createdBy: 'a key' }, { provider: 'p' }, { search }]) {
    const name = Object.keys(filter).join();
    assert.equal(readsAllTasks(filter), true, name);
    assert.equal(readsAllTasks({ ...filter, state: 'fail' }), true, name);
    assert.equal(readsAllTasks({ ...filter, accountId }), false, name);
  }
  for (const filter of [
    {},
    { accountId },
    { fromMs: 1 },
    { toMs: 1 },
    { state: 'fail' },
    { failCodes: ['internal'] },
    { search: wholeId },
    { model: undefined },
  ] as const)
    assert.equal(readsAllTasks(filter), false, Object.keys(filter).join());
  assert.equal(readsAllTasks({ search: wholeId, model: 'm' }), true);
});
