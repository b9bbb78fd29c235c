import assert from 'node:assert/strict';
import fileSystem, { stat, statfs } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { pino } from 'pino';
import { writtenFoldersOf, watchDisks } from '../../../../src/run/main/monitoring/watch-disks.ts';
import { readDisk, spaceProblem } from '../../../../src/platform/process/disk.ts';
import type { LogOutput } from '../../../../src/platform/log/log-output.ts';
import { recordEvents } from '../../../support/service/metric-event-sinks.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';

// Full disks of real folders: test/survival/full-disk.

const [mebibyte, gibibyte] = [1024 ** 2, 1024 ** 3];

/** A log whose lines are kept, without process and time. */
const linesInto = (lines: object[]) =>
  pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line) as object) });

test('a disk is full below 128 MiB, or below a tenth of a smaller one, or without inodes', () => {
  const space = { files: 0, freeFiles: 0 };
  const cases = [
    [100 * gibibyte, 128 * mebibyte, undefined],
    [100 * gibibyte, 128 * mebibyte - 1, 'disk full'],
    [200 * mebibyte, 20 * mebibyte, undefined],
    [200 * mebibyte, 20 * mebibyte - 1, 'disk full'],
  ] as const;
  for (const [sizeBytes, freeBytes, problem] of cases)
    assert.equal(spaceProblem({ ...space, sizeBytes, freeBytes }), problem);
  const roomy = { sizeBytes: gibibyte, freeBytes: gibibyte };
  const inodes = (files: number, freeFiles: number) => spaceProblem({ ...roomy, files, freeFiles });
  assert.deepEqual([inodes(1e6, 1000), inodes(1e6, 999)], [undefined, 'disk full (no free inodes)']);
});

test('a disk with space has no problem, and a folder that does not exist yet has no disk', async (t) => {
  const folder = await temporaryFolder(t);
  assert.equal(await readDisk(`${folder}/missing`), undefined);
  assert.equal((await readDisk(folder))?.problem, undefined);
});

test('a process names the folders that it writes to, and a log on a full disk; dropped lines are counted', async (t) => {
  const folder = await temporaryFolder(t);
  let [failure, dropped]: [string | undefined, number] = ['ENOSPC', 3];
  const takeDropped = () => {
    const taken = dropped;
    dropped = 0;
    return taken;
  };
  const output: LogOutput = { write: () => {}, flushSync: () => {}, takeDropped, failure: () => failure };
  const events = recordEvents('disk_checked', 'log_lines_dropped');
  const lines: object[] = [];
  const log = Object.assign(linesInto(lines), { output });
  const folders = writtenFoldersOf({
    workFolder: folder,
    resultStore: { kind: 'bucket', bucket: 'films', prefix: '' },
    resultStoreAlso: { kind: 'folder', path: folder },
  });
  assert.deepEqual(folders, { 'work folder': folder, 'second result store': folder });
  const resultStore = { kind: 'folder', path: '/srv/results' } as const;
  assert.deepEqual(
    writtenFoldersOf({ workFolder: folder, resultStore, embeddedFolders: { database: '/srv/postgres' } }),
    {
      database: '/srv/postgres',
      'work folder': folder,
      'result store': '/srv/results',
    },
  );
  const disks = await watchDisks({ part: 'api', folders, events, log, pauseMs: 10 });
  t.after(() => disks.close());
  assert.deepEqual(disks.problems(), ['disk full: log']);
  const [work, second, lost] = events.seen;
  const { blocks, bsize } = await statfs(folder);
  for (const [event, name] of [
    [work, 'work folder'],
    [second, 'second result store'],
  ] as const) {
    assert.ok(event?.kind === 'disk_checked');
    assert.deepEqual([event.folder, event.sizeBytes, event.isWritable], [name, blocks * bsize, true]);
    assert.ok(event.freeBytes > 0 && event.freeBytes <= event.sizeBytes);
  }
  assert.deepEqual(lost, { kind: 'log_lines_dropped', lines: 3 });
  failure = undefined;
  await waitFor('the end of the problem', () => (disks.problems().length === 0 ? true : undefined));
  const droppings = () => events.seen.filter(({ kind }) => kind === 'log_lines_dropped');
  assert.equal(droppings().length, 1);
  dropped = 2;
  await waitFor('more dropped lines', () => droppings()[1]);
  await disks.close();
  const isOfDrops = (line: object) => 'lines' in line;
  assert.deepEqual(
    lines.filter((line) => !isOfDrops(line)),
    [
      { level: 40, part: 'api', problems: ['disk full: log'], msg: 'disk unusable; no work is accepted' },
      { level: 30, part: 'api', after: ['disk full: log'], msg: 'disk usable again' },
    ],
  );
  // The log is tried again with each check while it fails; a later loss is counted anew.
  const msg = 'log lines dropped';
  assert.deepEqual(lines.find(isOfDrops), { level: 40, lines: 3, code: 'ENOSPC', msg });
  assert.deepEqual(lines.findLast(isOfDrops), { level: 40, lines: 2, msg });
});

test('a full disk is named and counted, with its free space and its size', async (t) => {
  const folder = await temporaryFolder(t);
  const full = { bavail: 10, blocks: 2000, bsize: mebibyte, files: 0, ffree: 0 };
  const mocked = t.mock.method(fileSystem, 'statfs', () => Promise.resolve(full));
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  const events = recordEvents('disk_checked');
  const log = pino({ level: 'silent' });
  const disks = await watchDisks({ part: 'api', folders: { 'work folder': folder }, events, log, pauseMs: 60_000 });
  t.after(() => disks.close());
  assert.deepEqual(disks.problems(), ['disk full: work folder']);
  const space = { device: (await stat(folder)).dev, freeBytes: 10 * mebibyte, sizeBytes: 2000 * mebibyte };
  const state = { ...space, problem: 'disk full', isWritable: false };
  assert.deepEqual(events.seen, [{ kind: 'disk_checked', folder: 'work folder', ...state }]);
});

test('folders on one full disk are one reason, and a disk that does not answer is one for each of its folders', async (t) => {
  const folder = await temporaryFolder(t);
  let isAnswering = true;
  const mocked = t.mock.method(fileSystem, 'statfs', () =>
    isAnswering
      ? Promise.resolve({ bavail: 0, blocks: 2000, bsize: mebibyte, files: 0, ffree: 0 })
      : Promise.reject(Object.assign(new Error('a test'), { code: 'EIO' })),
  );
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  const problemsOf = async (folders: Readonly<Record<string, string>>) => {
    const events = recordEvents('disk_checked');
    const lines: object[] = [];
    const log = linesInto(lines);
    const disks = await watchDisks({ part: 'worker', folders, events, log, pauseMs: 60_000 });
    await disks.close();
    const msg = 'disk unusable; no work is accepted';
    assert.deepEqual(lines, [{ level: 40, part: 'worker', problems: disks.problems(), msg }]);
    return [disks.problems(), events.seen.map((event) => event.folder)];
  };
  const both = { first: folder, second: folder };
  const found = await problemsOf({ ...both, missing: `${folder}/missing` });
  assert.deepEqual(found, [['disk full: first, second'], ['first', 'second']]);
  isAnswering = false;
  assert.deepEqual(await problemsOf(both), [['disk unavailable: first', 'disk unavailable: second'], []]);
});
