import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client } from 'pg';
import {
  findPostgresUrl,
  type PostgresServer,
  type PostgresOptions,
  startPostgres,
} from '../../../../src/run/embedded/postgres/postgres-server.ts';
import { commandLineOf } from '../../../../src/run/embedded/inspect-and-stop-process.ts';
import {
  awkwardFolder,
  endProcessesAfterTests,
  runStarter,
  until,
} from '../../../support/processes/embedded-processes.ts';
import { remainingOf } from '../../../support/processes/processes.ts';
import { startTcpProxy } from '../../../support/proxies/tcp-proxy.ts';

endProcessesAfterTests();

async function sql(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text, rowMode: 'array' });
    return rows.flat();
  } finally {
    await client.end();
  }
}

type Options = Pick<PostgresOptions, 'stopSteps'>;

async function start(
  t: TestContext,
  folder: string,
  options: Options = {},
): Promise<PostgresServer & { log: string[] }> {
  const log: string[] = [];
  const postgres = await startPostgres({ folder, log: (message) => log.push(message), ...options });
  t.after(postgres.stop);
  return Object.assign(postgres, { log });
}

test('a fresh folder becomes a database that keeps its data and its address over a stop', async (t) => {
  const folder = await awkwardFolder();
  const first = await start(t, folder);
  const settings = ['server_encoding', 'fsync', 'synchronous_commit', 'listen_addresses', 'unix_socket_directories'];
  const shown = await sql(first.url, `select ${settings.map((name) => `current_setting('${name}')`).join(', ')}`);
  assert.deepEqual(shown, ['UTF8', 'on', 'on', '127.0.0.1', '']);
  await sql(first.url, "create table stored as select 'grüße' as word");
  assert.equal(await findPostgresUrl(folder), first.url);
  await first.stop();
  assert.equal(await commandLineOf(first.pid), undefined);
  assert.equal(await findPostgresUrl(folder), undefined);

  const second = await start(t, folder);
  assert.equal(second.url, first.url);
  assert.deepEqual(await sql(second.url, 'select word from stored'), ['grüße']);
});

test('the password is needed and lies where only its owner reads it', async (t) => {
  const folder = await awkwardFolder();
  const { url } = await start(t, folder);
  assert.equal((await stat(join(folder, 'password'))).mode & 0o777, 0o600);
  const invalid = new URL(url);
  invalid.password = 'guess';
  await assert.rejects(sql(invalid.href, 'select 1'), { code: '28P01' });
});

test('a server that is killed comes back at the same address with every commit', async (t) => {
  const folder = await awkwardFolder();
  const postgres = await start(t, folder);
  const killed = postgres.pid;
  await sql(postgres.url, 'create table stored as select 41 as n');
  process.kill(killed, 'SIGKILL');
  await until(() => postgres.pid !== killed, 'a new server');
  assert.deepEqual(await sql(postgres.url, 'select n from stored'), [41]);
  assert.ok(postgres.log.some((message) => message.includes(`process ${killed}) has died`)));
});

test('a server ends with its process, however that ends', async () => {
  const folder = await awkwardFolder();
  const starter = await runStarter('postgres', folder);
  await starter.kill();
  await until(async () => (await commandLineOf(Number(starter.report['pid']))) === undefined, 'the end of the server');
  assert.deepEqual(await remainingOf({ folder }, 60_000), []);
});

test('a server left behind by a killed process is stopped, and one with the same address and every commit replaces it', async (t) => {
  const folder = await awkwardFolder();
  const starter = await runStarter('postgres', folder);
  await starter.abandon();
  const url = await findPostgresUrl(folder);
  assert.equal(url, starter.report['url']);
  await sql(String(url), 'create table stored as select 41 as n');
  const next = await start(t, folder);
  assert.equal(await commandLineOf(Number(starter.report['pid'])), undefined);
  assert.equal(next.url, url);
  assert.deepEqual(await sql(next.url, 'select n from stored'), [41]);
});

test('a server that a killed process left behind frozen is replaced, too', async (t) => {
  const folder = await awkwardFolder();
  const starter = await runStarter('postgres', folder);
  await starter.abandon();
  process.kill(Number(starter.report['pid']), 'SIGSTOP');
  // A frozen server obeys none of the milder signals, however long they are given.
  const stopSteps = [
    { signal: 'SIGINT', waitMs: 100 },
    { signal: 'SIGQUIT', waitMs: 100 },
    { signal: 'SIGKILL', waitMs: 180_000 },
  ] as const;
  assert.deepEqual(await sql((await start(t, folder, { stopSteps })).url, 'select 1'), [1]);
});

test('an interrupted start whose server does not respond leaves nothing running', async () => {
  const folder = await awkwardFolder();
  const stopping = new AbortController();
  const log = (message: string) => void (message.startsWith('Creating') && stopping.abort(new Error('broken off')));
  await assert.rejects(startPostgres({ folder, log, signal: stopping.signal }), /broken off/);
  assert.equal(await findPostgresUrl(folder), undefined);
});

/**
 * Leaves a pid file behind that names another program. It runs as the owner of the cluster, since PostgreSQL itself sees
 * through a pid that belongs to any other account.
 */
async function stalePidFile(t: TestContext, folder: string, script: string): Promise<void> {
  const first = await start(t, folder);
  const path = join(folder, 'cluster', 'postmaster.pid');
  const text = await readFile(path, 'utf8');
  await first.stop();
  const { uid, gid } = await stat(join(folder, 'cluster'));
  const program = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', uid, gid });
  t.after(() => program.kill('SIGKILL'));
  const messages: unknown[] = await once(program.stdout, 'data');
  await writeFile(path, text.replace(/^\d+/, String(messages[0]).trim()));
}

test('the pid file of a crashed machine, whose pid is another program today, does not block', async (t) => {
  const folder = await awkwardFolder();
  await stalePidFile(t, folder, 'echo $$; exec sleep 3600');
  const second = await start(t, folder);
  assert.deepEqual(await sql(second.url, 'select 1'), [1]);
});

test('the pid file of a dead server that is never reaped does not block', async (t) => {
  const folder = await awkwardFolder();
  // The shell becomes a program that does not know of its child, so the child is a zombie once it has ended.
  await stalePidFile(t, folder, 'sleep 0.1 & echo $!; exec sleep 3600');
  const second = await start(t, folder);
  assert.deepEqual(await sql(second.url, 'select 1'), [1]);
});

/** A running server, and one on a copy of its folder, which was made while it ran: pid file, port and password came along. */
async function startOriginalAndCopy(t: TestContext) {
  const [folder, copiedFolder] = [await awkwardFolder(), await awkwardFolder()];
  const original = await start(t, folder);
  await sql(original.url, "create table stored as select 'original' as word");
  await sql(original.url, 'checkpoint');
  execFileSync('cp', ['-a', folder, copiedFolder]);
  assert.equal(await findPostgresUrl(copiedFolder), undefined);
  return { original, pid: original.pid, copy: await start(t, copiedFolder) };
}

test('a copied folder gets a server and a port of its own, and the server of the original runs on', async (t) => {
  const { original, pid, copy } = await startOriginalAndCopy(t);
  assert.deepEqual(copy.log, []);
  assert.notEqual(copy.port, original.port);
  await sql(copy.url, "update stored set word = 'copy'");
  assert.deepEqual(await sql(copy.url, 'select word from stored'), ['copy']);
  assert.deepEqual(await sql(original.url, 'select word from stored'), ['original']);
  assert.equal(original.pid, pid);
  assert.equal(original.log.length, 1);
});

test("a server that has died is not replaced by that of a copied folder, which has its password, at the server's address", async (t) => {
  const { original, pid, copy } = await startOriginalAndCopy(t);
  await sql(copy.url, "update stored set word = 'copy'");
  const isTaken = startTcpProxy(`127.0.0.1:${copy.port}`, original.port);
  process.kill(pid, 'SIGKILL');
  const proxy = await isTaken;
  t.after(() => proxy.close());
  const hasLogged = (what: string) => original.log.some((message) => message.includes(what));
  await until(() => hasLogged('does not start') || hasLogged('was restarted'), 'a message about the start');
  assert.ok(!hasLogged('was restarted'));
  await proxy.close();
  await until(() => hasLogged('was restarted'), 'the server');
  assert.deepEqual(await sql(original.url, 'select word from stored'), ['original']);
});

test('a creation that was cut short leaves nothing behind and does not block', async (t) => {
  const folder = await awkwardFolder();
  await mkdir(join(folder, 'new', 'cluster', 'base'), { recursive: true });
  await writeFile(join(folder, 'new', 'password'), 'secret');
  await start(t, folder);
  assert.deepEqual((await readdir(folder)).toSorted(), ['cluster', 'password', 'port', 'server.log']);
});

test('stopping ends it although a client is connected, and may be repeated', async (t) => {
  const folder = await awkwardFolder();
  const postgres = await start(t, folder);
  const client = new Client({ connectionString: postgres.url });
  client.on('error', () => undefined);
  await client.connect();
  await Promise.all([postgres.stop(), postgres.stop()]);
  assert.equal(await commandLineOf(postgres.pid), undefined);
});
