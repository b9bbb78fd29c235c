import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  rotateServerLogIfLarge,
  rotateLogPeriodically,
  openServerLog,
  serverLogTail,
} from '../../../src/run/embedded/server-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const maxBytes = 5 * 1024 * 1024;

test('a log beyond five megabytes is copied and emptied while its server writes on; a smaller one stays', async (t) => {
  const path = join(await temporaryFolder(t), 'server.log');
  await rotateServerLogIfLarge(path);
  const file = await openServerLog(path);
  try {
    await file.write('x'.repeat(maxBytes));
    await rotateServerLogIfLarge(path);
    assert.equal((await stat(path)).size, maxBytes);
    await file.write('y');
    await rotateServerLogIfLarge(path);
    assert.deepEqual([(await stat(path)).size, (await stat(`${path}.1`)).size], [0, maxBytes + 1]);
    await file.write('after');
    assert.equal(await readFile(path, 'utf8'), 'after');
  } finally {
    await file.close();
  }
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('a log that was left too large is bounded at the start, or kept where it cannot be copied', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'server.log');
  await writeFile(path, 'x'.repeat(maxBytes + 1));
  await (await openServerLog(path)).close();
  assert.equal((await stat(path)).size, 0);
  const blocked = join(folder, 'blocked.log');
  await writeFile(blocked, 'x'.repeat(maxBytes + 1));
  await mkdir(`${blocked}.1`);
  await (await openServerLog(blocked)).close();
  assert.equal((await stat(blocked)).size, maxBytes + 1);
});

test('the log of a running server is bounded every minute', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'server.log');
  await writeFile(path, 'x'.repeat(maxBytes + 1));
  t.mock.timers.enable({ apis: ['setInterval'] });
  const timer = rotateLogPeriodically(path);
  t.mock.timers.tick(59_999);
  assert.deepEqual(await readdir(folder), ['server.log']);
  t.mock.timers.tick(1);
  await waitFor('an empty log', async () => ((await stat(path)).size === 0 ? true : undefined));
  clearInterval(timer);
});

test('an error message quotes the end of the log, and nothing of a missing one', async (t) => {
  const path = join(await temporaryFolder(t), 'server.log');
  assert.equal(await serverLogTail(path), '');
  await appendFile(path, `${'x'.repeat(3_000)} the end\n`);
  const tail = await serverLogTail(path);
  assert.ok(tail.endsWith('x the end'));
  assert.equal(tail.length, 1_999);
});
