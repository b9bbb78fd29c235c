import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { taskQueuesOf } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { startApi } from '../../src/run/main/start-api.ts';
import type { CompleteSettings } from '../../src/run/config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../../src/run/main/run-until-signal.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { connectTemporal } from '../../src/temporal/connection/connect.ts';
import { createWorkflowEngine } from '../../src/temporal/engine/create-workflow-engine.ts';
import { createTask } from '../support/service/call-api.ts';
import { createFakeUpstream } from '../support/tasks/fake-upstream.ts';
import { findingLine } from '../support/doctor-findings.ts';
import { commandsBeside, createShell } from '../support/documents/operations-commands.ts';
import { postgresPrograms, skipWithoutPostgres15, startPostgres15 } from '../support/servers/postgres-15.ts';
import { createTestAccount, createTestEnvironment } from '../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/service/worker-with-upstream.ts';

const model = 'videogen-2.0-fast';

// Recipes of docs/operations as they are written there, with PostgreSQL's own programs, on the oldest server that is supported.
describe('a recipe about the database', { skip: skipWithoutPostgres15 }, () => {
  let server: Awaited<ReturnType<typeof startPostgres15>>;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-database-'));
    server = await startPostgres15();
    const shell = await createShell(folder, { ADMIN_URL: server.url }, [postgresPrograms]);
    await shell.run(`psql "$ADMIN_URL" --command "create role videogen login createdb password 'OLD'"`);
    process.env['VIDEOGEN_TEST_POSTGRES'] = asUser('videogen', 'OLD', server.url);
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  test('backup and restore: books are right, nothing is made twice', async () => {
    const environment = await createTestEnvironment();
    const { database, settings } = environment;
    const dump = join(folder, 'videogen.dump');
    const shell = await createShell(folder, environment.environment, [postgresPrograms]);
    const run = (line: string) => shell.run(line.replaceAll('videogen.dump', dump));
    const upstream = createFakeUpstream({ instant: false });
    const temporal = connectTemporal(settings.temporal);
    const engine = createWorkflowEngine(temporal.client, taskQueuesOf(settings.taskQueue));
    const { accountId } = await createTestAccount(database, 10_000);
    const generating = async () => {
      const taskId = await acceptTestTask(database.db, accountId, taskParam('p'));
      await engine.startTask({ taskId, accountId, model });
      await waitFor('a job', () => (upstream.jobs.some((job) => job.taskId === taskId) ? true : undefined));
      return taskId;
    };
    let worker: DrainablePart | undefined = await startWorkerWith(settings, upstream);
    const stopWorker = async () => {
      await worker?.close();
      worker = undefined;
    };
    try {
      const done = await generating();
      upstream.finish(done);
      await waitForEnd(database.db, done);
      const running = await generating();

      const [backUp = ''] = commandsBeside('pg_dump');
      await run(backUp);
      upstream.finish(running);
      assert.equal((await waitForEnd(database.db, running)).state, 'success');
      const unknown = await generating();

      const lines = commandsBeside('pg_restore');
      const ended = { refunded: 0, terminated: 0 };
      for (const line of lines) {
        if (line.startsWith('docker compose stop')) await stopWorker();
        else if (line.startsWith('docker compose start')) worker = await startWorkerWith(settings, upstream);
        else if (!line.includes('--restored')) await run(line);
        else
          await waitFor('the settlement', async () => {
            // Temporal remembers the worker for a while.
            const text = await run(`${line.replace(/#.*/, '')} --json || true`);
            if (text === '') return delay(5_000, undefined);
            const { refunded, terminated } = JSON.parse(text) as typeof ended;
            ended.refunded += refunded;
            ended.terminated += terminated;
            return ended.terminated > 0 && refunded + terminated === 0 ? true : undefined;
          });
      }
      assert.deepEqual(ended, { refunded: 1, terminated: 1 });
      const states = await Promise.all([done, running, unknown].map((taskId) => findTask(database.db, taskId)));
      assert.deepEqual(
        states.map((task) => task?.state),
        ['success', 'fail', undefined],
      );
      assert.equal(upstream.jobs.length, 3);
      assert.match(await findingLine('schema', environment.environment), /^ok: /);

      // What was restored once can be backed up and restored again.
      await stopWorker();
      await run(backUp);
      for (const line of lines.filter((one) => /^(psql|pg_restore)/.test(one))) await run(line);
      assert.equal((await findTask(database.db, done))?.state, 'success');
      assert.deepEqual(await auditLedger(database.db), []);
    } finally {
      await stopWorker();
      await temporal.close();
      await environment.close();
    }
  });

  test('rotation of its password: creates go on, and the old one opens nothing', async () => {
    const environment = await createTestEnvironment();
    const { key } = await createTestAccount(environment.database);
    const shell = await createShell(folder, { ADMIN_URL: server.url }, [postgresPrograms]);
    const log = createLog({ level: 'silent' });
    const apiAs = async (databaseUrl: string) => {
      const port = await reserveFreePort();
      const publicUrl = `http://127.0.0.1:${port}`;
      const settings: CompleteSettings = { ...environment.settings, databaseUrl, port, publicUrl };
      const { close } = await startApi(settings, log);
      return {
        close,
        create: () => createTask({ baseUrl: publicUrl, key }, { model, input: { prompt: 'p', duration: 4 } }),
      };
    };
    const lines = commandsBeside('psql "$ADMIN_URL"').filter((line) => !line.startsWith('#'));
    assert.equal(lines.length, 2);
    const [make = '', end = ''] = lines;
    const urlOf = (user: string) => asUser(user, 'NEW', environment.database.url);
    const doctor = (url: string, check: string) =>
      findingLine(check, { ...environment.environment, DATABASE_URL: url });
    const first = await apiAs(environment.database.url);
    try {
      await shell.run(make);
      const second = await apiAs(urlOf('videogen_2'));
      for (const api of [first, second]) assert.equal((await api.create()).status, 200);
      await first.close();
      await shell.run(end);
      assert.equal((await second.create()).status, 200);
      assert.match(await doctor(environment.database.url, 'database'), /^error: .*not permitted to log in/);
      for (const check of ['database', 'rights', 'rights to migrate'])
        assert.match(await doctor(urlOf('videogen_2'), check), /^ok: /);

      await shell.run(make.replaceAll('videogen_2', 'videogen_3'));
      const third = await apiAs(urlOf('videogen_3'));
      await second.close();
      await shell.run(`psql "$ADMIN_URL" --command 'drop role videogen_2'`);
      assert.equal((await third.create()).status, 200);
      await third.close();
    } finally {
      await shell.run(`psql "$ADMIN_URL" --command 'alter role videogen login'`);
      await environment.close();
    }
  });
});

function asUser(user: string, password: string, address: string): string {
  const url = new URL(address);
  [url.username, url.password] = [user, password];
  return url.href;
}
