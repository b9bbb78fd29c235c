import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { test } from 'node:test';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { createTask } from '../../support/service/call-api.ts';
import { createTestAccount, createTestEnvironment } from '../../support/service/test-service.ts';
import { endPrograms } from '../../support/processes/programs.ts';
import { startApiProcess } from '../../support/processes/restart-apis.ts';
import { spawnEntryPoint } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

// OVERLOAD_TASKS=1000 OVERLOAD_WORKERS=3 makes it the burst that once refunded most of its tasks; OVERLOAD_TEMPORAL names another
// Temporal server, such as a production server.
const tasks = Number(process.env['OVERLOAD_TASKS'] ?? 200);
const apis = Number(process.env['OVERLOAD_APIS'] ?? 2);
const workers = Number(process.env['OVERLOAD_WORKERS'] ?? 1);
const busyLoops = Number(process.env['OVERLOAD_LOOPS'] ?? 4);
const accounts = 20;
const instantTask = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] a burst', duration: 4 } };
const limitMs = tasks * 1_500 + 120_000;

test(`on a saturated machine a burst of ${tasks} tasks from ${accounts} accounts succeeds to the last, however long it takes`, async (t) => {
  const environment = await createTestEnvironment({
    GENERATION_CONCURRENCY: '20',
    ...(process.env['OVERLOAD_TEMPORAL'] && { TEMPORAL_ADDRESS: process.env['OVERLOAD_TEMPORAL'] }),
  });
  const { db } = environment.database;
  const temporal = connectTemporal(environment.settings.temporal);
  const loops = Array.from({ length: busyLoops }, startBusyLoop);
  try {
    for (let index = 0; index < workers; index += 1) spawnEntryPoint('worker', environment.environment);
    const baseUrls = await Promise.all(Array.from({ length: apis }, startApi));
    const own = await Promise.all(
      Array.from({ length: accounts }, () => createTestAccount(environment.database, 132 * tasks)),
    );
    const startedAt = performance.now();
    // All creates run at the same time. They wait for a busy database, so none is refused.
    const answers = await Promise.all(
      Array.from({ length: tasks }, async (_, index) => {
        const [baseUrl, account] = [baseUrls[index % apis], own[index % accounts]];
        assert.ok(baseUrl && account);
        const { status } = await createTask({ baseUrl, key: account.key }, instantTask);
        return status;
      }),
    );
    assert.deepEqual([...new Set(answers)], [200]);
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
    for (const loop of loops) loop.kill('SIGKILL');
    await endPrograms();
    await temporal.close();
    await environment.close();
  }

  async function startApi(): Promise<string> {
    const port = await reserveFreePort();
    await startApiProcess(t, environment, port);
    return `http://127.0.0.1:${port}`;
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

/** A process that only computes. It ends when its parent has ended. */
function startBusyLoop(): ChildProcess {
  const program = 'const parent = process.ppid; while (process.ppid === parent) for (let n = 0; n < 1e8; n += 1);';
  return spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
}
