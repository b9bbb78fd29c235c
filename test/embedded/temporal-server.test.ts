import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client, Connection } from '@temporalio/client';
import { runningProcess } from '../../src/embedded/processes/running-process.ts';
import { startTemporal, type TemporalServer } from '../../src/embedded/temporal-server.ts';
import { awkwardFolder, runStarter, until } from '../support/embedded-processes.ts';
import { testTemporalCli } from '../support/embedded-temporal-cli.ts';

const searchAttributes = { AccountId: 'Keyword', Model: 'Keyword', TaskState: 'Keyword' };
const namespace = 'videogen';

async function start(t: TestContext, folder?: string): Promise<TemporalServer & { log: string[] }> {
  const log: string[] = [];
  const options = { cliPath: await testTemporalCli(), log: (message: string) => log.push(message), namespace };
  const server = await startTemporal({ ...options, searchAttributes, ...(folder === undefined ? {} : { folder }) });
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
    client.workflow.start('anything', { taskQueue: 'nobody-polls', workflowId, searchAttributes: searchable }),
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
  assert.equal(await runningProcess(first.pid), undefined);

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

test('a search attribute that came with a later release is added to a server left behind by a killed process', async (t) => {
  const folder = await awkwardFolder();
  await (await runStarter('temporal', folder, await testTemporalCli())).kill();
  await startWorkflow(await start(t, folder), 'task-1');
});

test('a server left behind by a killed process is adopted, not doubled, and ended by us', async (t) => {
  const folder = await awkwardFolder();
  const starter = await runStarter('temporal', folder, await testTemporalCli(), ...Object.keys(searchAttributes));
  await starter.kill();
  const server = await start(t, folder);
  assert.equal(server.pid, starter.said['pid']);
  assert.equal(server.address, starter.said['address']);
  await server.stop();
  assert.equal(await runningProcess(server.pid), undefined);
});

test('a server of an older release, which told nobody where it serves HTTP, is adopted too', async (t) => {
  const folder = await awkwardFolder();
  const starter = await runStarter('temporal', folder, await testTemporalCli(), ...Object.keys(searchAttributes));
  await starter.kill();
  await rm(join(folder, 'http-port'));
  assert.equal((await start(t, folder)).pid, starter.said['pid']);
});

test('a server runs outside the process group of its starter, so a Ctrl-C there does not reach it', async (t) => {
  const server = await start(t);
  const stat = await readFile(join('/proc', String(server.pid), 'stat'), 'utf8').catch(() => undefined);
  if (stat === undefined) return t.skip('there is no /proc here');
  const processGroup = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2];
  assert.equal(processGroup, String(server.pid));
});
