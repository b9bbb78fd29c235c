import assert from 'node:assert/strict';
import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  lockDataFolder,
  openLog,
  readServiceUrl,
  readOrCreateSecret,
  recordServiceUrl,
} from '../../../src/run/embedded/data-folder-lock-and-files.ts';
import { awkwardFolder, endProcessesAfterTests, runStarter } from '../../support/processes/embedded-processes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

endProcessesAfterTests();

test('a second process is refused with the pid of the first', async (t) => {
  const folder = await awkwardFolder();
  const owner = await runStarter('lock', folder);
  t.after(owner.kill);
  assert.equal(owner.report['locked'], true);
  const message = new RegExp(`in use by process ${owner.child.pid}\\. `);
  await assert.rejects(lockDataFolder(folder), { name: 'SetupError', message });
});

test('the same process is refused a second time', async (t) => {
  const folder = await awkwardFolder();
  const lock = await lockDataFolder(folder);
  t.after(lock.release);
  await assert.rejects(lockDataFolder(folder), { name: 'SetupError', message: /in use by process/ });
});

test('a released folder can be locked again and nothing is left in it', async () => {
  const folder = await awkwardFolder();
  await (await lockDataFolder(folder)).release();
  await (await lockDataFolder(folder)).release();
  assert.deepEqual(await readdir(folder), []);
});

test('a lock whose file is already gone can be released', async () => {
  const folder = await awkwardFolder();
  const lock = await lockDataFolder(folder);
  await rm(join(folder, 'videogen.lock'));
  await lock.release();
  await (await lockDataFolder(folder)).release();
});

test('the lock of a killed process is taken over', async () => {
  const folder = await awkwardFolder();
  await (await runStarter('lock', folder)).kill();
  const lock = await lockDataFolder(folder);
  assert.deepEqual(await readdir(folder), ['videogen.lock']);
  await lock.release();
});

test('a lock file that a crash of the machine left does not block', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  for (const text of ['', '1', '{"pid": 1}']) {
    await writeFile(join(folder, 'videogen.lock'), text);
    await (await lockDataFolder(folder)).release();
  }
});

test('a folder that another account could read is closed', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  await (await lockDataFolder(folder)).release();
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
});

test('of eight processes that find the same stale lock exactly one gets it', async (t) => {
  const folder = await awkwardFolder();
  await (await runStarter('lock', folder)).kill();
  const contenders = await Promise.all(Array.from({ length: 8 }, () => runStarter('lock', folder)));
  t.after(() => Promise.all(contenders.map((contender) => contender.kill())));
  assert.equal(contenders.filter(({ report }) => report['locked'] === true).length, 1);
});

test('of many contenders in one process exactly one gets the lock, repeatedly', async () => {
  const folder = await awkwardFolder();
  for (let pass = 0; pass < 30; pass++) {
    const tries = await Promise.allSettled(Array.from({ length: 12 }, () => lockDataFolder(folder)));
    const won = tries.filter((tried) => tried.status === 'fulfilled');
    assert.equal(won.length, 1, `pass ${pass}`);
    for (const { value } of won) await value.release();
  }
});

test('the secret is created once and never replaced, even if it is damaged', async () => {
  const folder = await awkwardFolder();
  const path = join(folder, 'secret');
  await mkdir(folder, { recursive: true });
  const secret = await readOrCreateSecret(folder);
  assert.match(secret, /^[\w-]{43}$/);
  assert.equal(await readOrCreateSecret(folder), secret);
  assert.deepEqual([await readdir(folder), (await stat(path)).mode & 0o777], [['secret'], 0o600]);
  await writeFile(path, secret.slice(0, 32));
  assert.equal(await readOrCreateSecret(folder), secret.slice(0, 32), 'the shortest');
  for (const damaged of ['', '\n', secret.slice(0, 31)]) {
    await writeFile(path, damaged);
    await assert.rejects(readOrCreateSecret(folder), {
      name: 'SetupError',
      message: /^The secret in .* is damaged.* backup/,
    });
    assert.equal(await readFile(path, 'utf8'), damaged);
  }
  await rm(path);
  await mkdir(path);
  await assert.rejects(readOrCreateSecret(folder), { name: 'SetupError', message: /cannot be read \(EISDIR\)/ });
});

test('commands find the address of the service while it runs', async () => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  assert.equal(await readServiceUrl(folder), undefined);
  const { remove } = await recordServiceUrl(folder, 'http://127.0.0.1:3000');
  assert.equal(await readServiceUrl(folder), 'http://127.0.0.1:3000');
  assert.equal((await stat(join(folder, 'address'))).mode & 0o777, 0o600);
  await writeFile(join(folder, 'address'), 'damaged');
  assert.equal(await readServiceUrl(folder), undefined);
  await remove();
  await remove();
  assert.deepEqual(await readdir(folder), []);
});

test('the log of the service is bounded when it is opened and every minute after that, and has its lines', async (t) => {
  const dataFolder = await temporaryFolder(t);
  const file = join(dataFolder, 'videogen.log');
  const large = 'x'.repeat(5 * 1024 * 1024 + 1);
  await writeFile(file, large);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { log, path } = await openLog({ dataFolder, logLevel: 'info' });
  assert.equal(path, file);
  assert.equal((await stat(`${file}.1`)).size, large.length);
  log.debug('below the level');
  log.info('a line');
  await waitFor('the line', async () => ((await readFile(file, 'utf8')).includes('a line') ? true : undefined));
  assert.doesNotMatch(await readFile(file, 'utf8'), /xxx|below/);
  await appendFile(file, large);
  t.mock.timers.tick(60_000);
  await waitFor('an empty log', async () => ((await stat(file)).size === 0 ? true : undefined));
});
