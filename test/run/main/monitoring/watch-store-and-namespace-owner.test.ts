import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { claimAndWatchStoreAndNamespace } from '../../../../src/run/main/monitoring/watch-store-and-namespace-owner.ts';
import type { Database } from '../../../../src/platform/database/database.ts';
import { createLog } from '../../../../src/platform/log/log.ts';
import { createTestEnvironment, type TestEnvironment } from '../../../support/service/test-service.ts';
import { waitFor } from '../../../support/wait-for.ts';

const log = createLog({ level: 'silent' });
let environment: TestEnvironment;
before(async () => {
  environment = await createTestEnvironment();
});
after(() => environment.close());

const settingsOf = (folder: string) => ({
  ...environment.settings,
  resultStore: { kind: 'folder', path: join(environment.settings.dataFolder, folder) } as const,
});

test('a worker begins nothing before it knows its store, an API accepts tasks, and both notice a lost store', async () => {
  const { db } = environment.database;
  let [isDown, failures] = [true, 0];
  const run: Database['run'] = (...args) => {
    if (!isDown) return db.run(...args);
    failures += 1;
    return Promise.reject(new Error('unavailable'));
  };
  const lines: string[] = [];
  const noted = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) });
  const watched = { db: { ...db, run }, settings: settingsOf('store'), log: noted, pauseMs: 10 };
  const worker = await claimAndWatchStoreAndNamespace({ ...watched, isWorker: true });
  const api = await claimAndWatchStoreAndNamespace({ ...watched, isWorker: false });
  const problems = () => [worker.problems().length, api.problems().length].join();
  const becomes = (wanted: string) => waitFor(wanted, () => (problems() === wanted ? true : undefined));
  try {
    assert.deepEqual([worker.problems(), api.problems()], [['result store not checked yet'], []]);
    isDown = false;
    await becomes('0,0');
    const { path } = settingsOf('store').resultStore;
    await rename(path, `${path}.unmounted`);
    await becomes('1,1');
    await rename(`${path}.unmounted`, path);
    await becomes('0,0');
    [isDown, failures] = [true, 0];
    await waitFor('several checks', () => (failures > 5 ? true : undefined));
    assert.equal(problems(), '0,0', 'an outage proves nothing');
  } finally {
    await Promise.all([worker.close(), api.close()]);
  }
  // Each check says that the store is not compared yet; the other two are said once by each process.
  const said = lines.map(
    (line) => JSON.parse(line) as { level: number; msg: string; reason?: string; remedy?: string },
  );
  const begins = said.findIndex(({ level }) => level === 50);
  for (const line of lines.slice(0, begins))
    assert.match(line, /^{"level":40,"err":.*"message":"unavailable".*"msg":"result store not compared/);
  const [lost, found] = [
    'settings of another installation; no work is done',
    'settings are those of the installation again',
  ];
  assert.deepEqual(
    said.slice(begins).map(({ level, msg }) => [level, msg]),
    [
      [50, lost],
      [50, lost],
      [30, found],
      [30, found],
    ],
  );
  const { reason = '', remedy = '' } = said[begins] ?? {};
  assert.match(`${reason} | ${remedy}`, /^RESULT_STORE .*store.* \| ./);
});

test('a worker with another namespace does not start, and an API does, which uses none', async () => {
  const { db } = environment.database;
  const own = settingsOf('store');
  const other = { ...own, temporal: { ...own.temporal, namespace: 'other' } };
  for (const [settings, isWorker] of [
    [own, true],
    [other, false],
  ] as const)
    await (await claimAndWatchStoreAndNamespace({ db, settings, log, isWorker })).close();
  await assert.rejects(claimAndWatchStoreAndNamespace({ db, settings: other, log, isWorker: true }), {
    name: 'SetupError',
    message: /other/,
  });
});

test('a process with another store does not start', async () => {
  const { db } = environment.database;
  for (const isWorker of [true, false])
    await assert.rejects(claimAndWatchStoreAndNamespace({ db, settings: settingsOf('other'), log, isWorker }), {
      name: 'SetupError',
      message: /^RESULT_STORE \(.*other\) is not the store of this installation\. Set RESULT_STORE/,
    });
});
