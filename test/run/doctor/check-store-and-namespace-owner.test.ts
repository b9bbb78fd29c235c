import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  claimTemporalNamespaceOrFindProblem,
  claimStoresOrFindProblem,
} from '../../../src/media/store/store-and-namespace-ownership.ts';
import { readConfig } from '../../../src/run/config/config.ts';
import { checkStoreAndNamespaceOwner } from '../../../src/run/doctor/check-store-and-namespace-owner.ts';
import { createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';

let environment: TestEnvironment;
before(async () => {
  environment = await createTestEnvironment();
});
after(() => environment.close());

test('doctor reports a store and a namespace of another installation, and checks nothing without the database', async () => {
  const { database, settings } = environment;
  assert.equal(await claimStoresOrFindProblem(database.db, settings), undefined);
  assert.equal(await claimTemporalNamespaceOrFindProblem(database.db, 'films'), undefined);
  const config = readConfig(environment.environment);
  const stateOf = async (changed: Partial<typeof config>, namespace = 'films', url = database.url) => {
    const [finding, ...others] = await checkStoreAndNamespaceOwner(url, { ...config, ...changed }, namespace);
    assert.deepEqual([finding?.check, others], ['installation', []]);
    return finding?.state;
  };
  const other = { kind: 'folder', path: join(settings.dataFolder, 'other') } as const;
  const own = settings.resultStore;
  assert.equal(await stateOf({}), 'ok');
  assert.equal(await stateOf({ resultStore: other }), 'error');
  assert.equal(await stateOf({ resultStore: undefined, dataFolder: other.path }), 'error', 'the store by default');
  assert.equal(await stateOf({ resultStore: other, resultStoreAlso: own }), 'ok', 'one of them is its store');
  assert.equal(await stateOf({}, 'other'), 'error');
  assert.equal(await stateOf({}, 'films', 'postgres://127.0.0.1:1/none'), 'unknown');
});
