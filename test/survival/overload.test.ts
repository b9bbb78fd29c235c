import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { createTaskStarter } from '../../src/temporal/task-starter.ts';
import { startBusyLoops } from '../support/busy-machine.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// OVERLOAD_TASKS=1000 OVERLOAD_WORKERS=3 makes it the burst that once refunded most of its tasks; OVERLOAD_TEMPORAL names another
// Temporal server, such as a production server.
const tasks = Number(process.env['OVERLOAD_TASKS'] ?? 200);
const workers = Number(process.env['OVERLOAD_WORKERS'] ?? 1);
const busyLoops = Number(process.env['OVERLOAD_LOOPS'] ?? 4);
const accounts = 20;
const model = 'videogen-2.0-fast';
const limitMs = tasks * 1_500 + 120_000;

test(`on a saturated machine a burst of ${tasks} tasks from ${accounts} accounts succeeds to the last, however long it takes`, async () => {
  const environment = await createTestEnvironment({
    GENERATION_CONCURRENCY: '20',
    ...(process.env['OVERLOAD_TEMPORAL'] && { TEMPORAL_ADDRESS: process.env['OVERLOAD_TEMPORAL'] }),
  });
  const { db } = environment.database;
  const temporal = connectTemporal(environment.settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(environment.settings.taskQueue));
  const starter = createTaskStarter(engine.startTask, () => {});
  const program = fileURLToPath(new URL('../../src/worker.js', import.meta.url));
  const running: ChildProcess[] = [];
  const machine = startBusyLoops(busyLoops);
  try {
    for (let index = 0; index < workers; index += 1) {
      running.push(spawn(process.execPath, [program], { env: environment.environment, stdio: 'inherit' }));
    }
    const startedAt = performance.now();
    const own = await Promise.all(
      Array.from({ length: accounts }, () => createTestAccount(environment.database, 132 * tasks)),
    );
    for (let index = 0; index < tasks; index += 1) {
      const account = own[index % accounts];
      assert.ok(account);
      const { accountId } = account;
      const taskId = await acceptTestTask(db, accountId, taskParam('[[instant]] a burst'));
      starter.start({ taskId, accountId, model });
    }
    await waitFor(
      'the last task',
      async () => ((await counts())['unfinished'] === undefined ? true : undefined),
      limitMs,
    );
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(`# ${tasks} tasks in ${seconds} s; workflow tasks that timed out: ${await timedOut()}\n`);
    assert.deepEqual(await counts(), { success: tasks });
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await machine.stop();
    for (const worker of running) {
      const exit = once(worker, 'exit');
      if (worker.kill('SIGKILL')) await exit;
    }
    await temporal.close();
    await environment.close();
  }

  /** Tasks by how they ended. */
  async function counts(): Promise<Record<string, number>> {
    const rows = await db.run<{ outcome: string; tasks: number }>({
      name: 'test-count-outcomes',
      text: `select case when state in ('success') then state when state = 'fail' then fail_code else 'unfinished' end as outcome,
        count(*)::int as tasks from tasks group by 1`,
    });
    return Object.fromEntries(rows.map((row) => [row.outcome, row.tasks]));
  }

  async function timedOut(): Promise<number> {
    let found = 0;
    for (const { id } of await db.run<{ id: string }>({ name: 'test-task-ids', text: 'select id from tasks' })) {
      const { events } = await temporal.client.workflow.getHandle(id).fetchHistory();
      found += events?.filter((event) => event.workflowTaskTimedOutEventAttributes).length ?? 0;
    }
    return found;
  }
});
