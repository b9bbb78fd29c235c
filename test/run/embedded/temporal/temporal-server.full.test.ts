import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { commandLineOf } from '../../../../src/run/embedded/inspect-and-stop-process.ts';
import { startTemporal, type TemporalServer } from '../../../../src/run/embedded/temporal/temporal-server.ts';
import {
  awkwardFolder,
  endProcessesAfterTests,
  runStarter,
  until,
} from '../../../support/processes/embedded-processes.ts';
import { testTemporalCli } from '../../../support/processes/find-temporal-cli.ts';
import { startTcpProxy } from '../../../support/proxies/tcp-proxy.ts';

endProcessesAfterTests();

const namespace = 'videogen';

async function start(t: TestContext, folder?: string): Promise<TemporalServer & { log: string[] }> {
  const log: string[] = [];
  const options = { cliPath: await testTemporalCli(), log: (message: string) => log.push(message), namespace };
  const target = folder === undefined ? { folder: await awkwardFolder(), inMemory: true } : { folder };
  const server = await startTemporal({ ...options, ...target });
  t.after(server.stop);
  return Object.assign(server, { log });
}

async function withClient<T>({ address }: TemporalServer, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection, namespace }));
  } finally {
    await connection.close();
  }
}

function startWorkflow(server: TemporalServer, workflowId: string): Promise<unknown> {
  const searchable = { AccountId: ['an account'], Model: ['videogen-2.0'], TaskState: ['waiting'] };
  return withClient(server, (client) =>
    client.workflow.start('anything', { taskQueue: 'unserved', workflowId, searchAttributes: searchable }),
  );
}

async function state(server: TemporalServer, workflowId: string): Promise<string> {
  const described = await withClient(server, (client) => client.workflow.getHandle(workflowId).describe());
  return described.status.name;
}

async function stateOnceBack(server: TemporalServer, workflowId: string): Promise<string> {
  let found = 'none';
  await until(
    async () => (found = await state(server, workflowId).catch(() => 'none')) !== 'none',
    'the workflow is there',
  );
  return found;
}

test('a workflow with our search attributes, the address and the UI survive a stop', async (t) => {
  const folder = await awkwardFolder();
  const first = await start(t, folder);
  await startWorkflow(first, 'task-1');
  assert.match(await (await fetch(first.uiUrl)).text(), /<html/i);
  await first.stop();
  assert.equal(await commandLineOf(first.pid), undefined);

  const second = await start(t, folder);
  assert.deepEqual([second.address, second.uiUrl], [first.address, first.uiUrl]);
  assert.equal(await state(second, 'task-1'), 'RUNNING');
});

test('a server that is killed comes back at the same address with its workflows', async (t) => {
  const server = await start(t, await awkwardFolder());
  await startWorkflow(server, 'task-1');
  const killed = server.pid;
  process.kill(killed, 'SIGKILL');
  await until(() => server.pid !== killed, 'a new server');
  assert.equal(await stateOnceBack(server, 'task-1'), 'RUNNING');
  assert.ok(server.log.some((message) => message.includes(`process ${killed}) has died`)));
});

test('a server left behind by a killed process is stopped, and one with the same address and its workflows replaces it', async (t) => {
  const folder = await awkwardFolder();
  const starter = await runStarter('temporal', folder, await testTemporalCli());
  const orphan = {
    address: String(starter.report['address']),
    uiUrl: '',
    ports: [],
    pid: 0,
    stop: () => Promise.resolve(),
  };
  await startWorkflow(orphan, 'task-1');
  await starter.abandon();
  const server = await start(t, folder);
  assert.equal(await commandLineOf(Number(starter.report['pid'])), undefined);
  assert.equal(server.address, orphan.address);
  assert.equal(await stateOnceBack(server, 'task-1'), 'RUNNING');
});

test('the pid file of a crashed machine, whose pid is another program today, does not block', async (t) => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  const program = spawn('sleep', ['3600'], { stdio: 'ignore' });
  t.after(() => program.kill('SIGKILL'));
  await writeFile(join(folder, 'pid'), `${program.pid}\n`);
  await start(t, folder);
  assert.equal(await commandLineOf(program.pid ?? 0), 'sleep 3600');
});

test('the pid file of a copied folder, whose original runs and has a longer name, does not block', async (t) => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  const original = ['--db-filename', join('/original', folder, 'temporal.db'), '--more'];
  const idle = ['-e', 'setInterval(() => 0, 1000)', '--', ...original];
  const program = spawn(process.execPath, idle, { stdio: 'ignore' });
  t.after(() => program.kill('SIGKILL'));
  await writeFile(join(folder, 'pid'), `${program.pid}\n`);
  assert.deepEqual((await start(t, folder)).log, []);
  assert.ok(await commandLineOf(program.pid ?? 0));
});

test("a server that has died is not replaced by another installation's at its address", async (t) => {
  const [server, other] = [await start(t, await awkwardFolder()), await start(t)];
  const isTaken = startTcpProxy(other.address, Number(new URL(`tcp://${server.address}`).port));
  process.kill(server.pid, 'SIGKILL');
  const proxy = await isTaken;
  t.after(() => proxy.close());
  const hasLogged = (what: string) => server.log.some((message) => message.includes(what));
  await until(() => hasLogged('is taken') || hasLogged('was restarted'), 'a message about the start');
  assert.ok(!hasLogged('was restarted'));
  await proxy.close();
  await until(() => hasLogged('was restarted'), 'the server');
});

/** A program that listens on the port that follows `--ui-port`, in a process that outlives it. Writes its pid to the first argument. */
const takePort = `
const { spawn } = require('node:child_process');
const [pidFile, ...args] = process.argv.slice(2);
const listen = "require('node:net').createServer().listen(+process.argv[1], '127.0.0.1', () => console.log('listening'))";
const port = args[args.indexOf('--ui-port') + 1];
const program = spawn(process.execPath, ['-e', listen, port], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
require('node:fs').writeFileSync(pidFile, String(program.pid));
program.stdout.once('data', () => process.exit());
`;

test('a port that another program takes while the server starts is replaced', async (t) => {
  const folder = await awkwardFolder();
  const cliPath = join(dirname(folder), 'temporal');
  const launcher = `#!/bin/sh
[ -e "$0.pid" ] || '${process.execPath}' "$0.cjs" "$0.pid" "$@"
exec '${await testTemporalCli()}' "$@"
`;
  await writeFile(`${cliPath}.cjs`, takePort);
  await writeFile(cliPath, launcher, { mode: 0o755 });
  const server = await startTemporal({ cliPath, folder, inMemory: true, namespace, log: () => undefined });
  t.after(server.stop);
  const program = Number(await readFile(`${cliPath}.pid`, 'utf8'));
  t.after(() => process.kill(program, 'SIGKILL'));
  assert.notEqual(await commandLineOf(program), undefined, 'it keeps the port');
  assert.match(await (await fetch(server.uiUrl)).text(), /<html/i);
});

test('a damaged database is reported with a fix, which works, and nothing is left running', async (t) => {
  const folder = await awkwardFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'temporal.db'), 'no database '.repeat(1_000));
  await assert.rejects(start(t, folder), (error: Error) => {
    assert.equal(error.name, 'SetupError');
    assert.match(error.message, /delete all files `temporal\.db\*`.*PostgreSQL keeps every task/);
    return true;
  });
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
  assert.equal(await commandLineOf(pid), undefined);
  for (const name of await readdir(folder)) if (name.startsWith('temporal.db')) await rm(join(folder, name));
  await startWorkflow(await start(t, folder), 'task-1');
});

test('a server runs outside the process group of its starter, so a Ctrl-C there does not reach it', async (t) => {
  const server = await start(t);
  const stat = await readFile(join('/proc', String(server.pid), 'stat'), 'utf8').catch(() => undefined);
  if (stat === undefined) return t.skip('there is no /proc here');
  const processGroup = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2];
  assert.equal(processGroup, String(server.pid));
});
