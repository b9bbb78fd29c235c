import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { callbackWorkflowId, taskWorkflowId } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { describeTaskWorkflow, unlessMissing } from '../../../src/temporal/engine/describe-workflow.ts';
import { type Api, call, createdTask, post, recordInfo, resultUrlsIn } from '../../support/service/call-api.ts';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { connectEngine, type EngineClient } from '../../support/service/test-installation.ts';
import { waitForDelivery } from '../../support/tasks/owed-callback.ts';
import { endOf, endPrograms, startProgram } from '../../support/processes/programs.ts';
import {
  createTestAccount,
  createTestEnvironment,
  startTestService,
  type TestService,
} from '../../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

describe('deletion on request', () => {
  let service: TestService;
  let temporal: EngineClient;
  before(async () => {
    service = await startTestService();
    temporal = connectEngine(service);
  });
  after(async () => {
    const violations = await auditLedger(service.database.db);
    await temporal.close();
    await service.close();
    assert.deepEqual(violations, []);
  });

  const isThere = (key: string) =>
    access(join(storeFolder(service), key)).then(
      () => true,
      () => false,
    );

  test('the files of a task, its uploaded image and the histories of its workflows are deleted', async () => {
    const account = await createTestAccount(service.database);
    const api = { baseUrl: service.baseUrl, key: account.key };
    const receiver = await startCallbackReceiver({});
    try {
      const imageUrl = await uploaded(api);
      const input = { prompt: '[[instant]] a secret', duration: 4, imageUrls: [imageUrl] };
      const taskId = await createdTask(api, input, { callBackUrl: `${receiver.url}/a` });
      assert.equal((await waitForEnd(service.database.db, taskId)).state, 'success');
      await waitForDelivery(service.database.db, taskId, 'delivered');
      await temporal.client.workflow.getHandle(taskWorkflowId(taskId)).result();
      await post(api, '/api/v1/callbacks/redeliver', { taskId });
      await receiver.waitForCallbacks('/a', 2);
      await temporal.client.workflow.getHandle(callbackWorkflowId(taskId)).result();
      const [link = ''] = resultUrlsIn((await recordInfo(api, taskId)).body.data);
      assert.equal((await fetch(link)).status, 200);
      const { pathname } = new URL(imageUrl);
      assert.ok(await isThere(pathname.slice('/media/'.length)));

      assert.equal((await post(api, '/api/v1/jobs/deleteTask', { taskId })).status, 200);
      const deleted = await fetch(link);
      assert.deepEqual([deleted.status, ((await deleted.json()) as { error: string }).error], [410, 'media_deleted']);
      await temporal.untilRun('housekeeping', 'the end of the histories', async () => {
        const callback = temporal.client.workflow.getHandle(callbackWorkflowId(taskId));
        const [task, delivery] = [
          await describeTaskWorkflow(temporal.client, taskId),
          await unlessMissing(temporal.client, () => callback.describe()),
        ];
        return task.status === 'missing' && delivery === undefined ? true : undefined;
      });
      await waitFor('the end of the image', async () =>
        (await isThere(pathname.slice('/media/'.length))) ? undefined : true,
      );
      assert.equal(await isThere(`results/${taskId}`), false);
      assert.equal((await recordInfo(api, taskId)).body.data['state'], 'success');
    } finally {
      await receiver.close();
    }
  });

  test('an image that another task still needs stays until that one has ended', async () => {
    const account = await createTestAccount(service.database);
    const api = { baseUrl: service.baseUrl, key: account.key };
    const imageUrl = await uploaded(api);
    const key = new URL(imageUrl).pathname.slice('/media/'.length);
    const { db } = service.database;
    // Neither has a workflow.
    const [ended, waiting] = [
      await acceptTestTask(db, account.accountId, taskParam('one', { imageUrls: [imageUrl] })),
      await acceptTestTask(db, account.accountId, taskParam('[[slow 600s]] two', { imageUrls: [imageUrl] })),
    ];
    await failAndRefund(db, ended, { failCode: 'cancelled', failMsg: 'A test.' });
    assert.equal((await post(api, '/api/v1/jobs/deleteTask', { taskId: ended })).status, 200);
    const text = `select count(*)::int as count from content_deletions where account_id = $1 and swept_at is not null`;
    const swept = async () =>
      (await db.run<{ count: number }>({ name: 'test-swept', text }, [account.accountId]))[0]?.count ?? 0;
    await temporal.trigger('housekeeping');
    assert.ok(await isThere(key));
    await post(api, '/api/v1/jobs/cancelTask', { taskId: waiting });
    await temporal.untilRun('housekeeping', 'the sweep', async () => ((await swept()) === 1 ? true : undefined));
    assert.equal(await isThere(key), false);
  });
});

test('a closed account is emptied, also when the worker is killed in the middle of it', async () => {
  const environment = await createTestEnvironment();
  const { db } = environment.database;
  try {
    const { accountId } = await createTestAccount(environment.database, 1_000_000);
    const other = await createTestAccount(environment.database);
    const taskIds: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const taskId = await acceptTestTask(db, accountId, taskParam('a secret', {}, 'http://127.0.0.1:1/secret'));
      if (index > 0) await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
      taskIds.push(taskId);
    }
    const theirs = await acceptTestTask(db, other.accountId, taskParam('not a secret'));
    await failAndRefund(db, theirs, { failCode: 'cancelled', failMsg: 'A test.' });
    await closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'requested' });
    const left = async () => {
      const text = `select count(*)::int as count from tasks where account_id = $1 and param::text like '%a secret%'`;
      return (await db.run<{ count: number }>({ name: 'test-left', text }, [accountId]))[0]?.count ?? 0;
    };
    const killed = startProgram('../../support/processes/killed-worker.js', ['after', 'delete-task-content'], {
      env: environment.environment,
    });
    await endOf(killed);
    assert.ok((await left()) > 0, 'it was in the middle');

    startProgram('../../../src/run/main/worker.js', [], { env: environment.environment });
    const temporal = connectEngine(environment);
    await temporal.untilRun('reconcile', 'the end of the closure', async () => {
      const text = `select finished_at from account_closures`;
      const [row] = await db.run<{ finished_at: number | null }>({ name: 'test-closure', text });
      return row?.finished_at ?? undefined;
    });
    await temporal.close();
    assert.equal(await left(), 0);
    const text = `select count(*)::int as count from callback_deliveries`;
    assert.deepEqual(await db.run({ name: 'test-deliveries', text }), [{ count: 0 }]);
    const remaining = `select count(*)::int as count from tasks where content_deleted_at is null`;
    assert.deepEqual(
      await db.run({ name: 'test-remaining', text: remaining }),
      [{ count: 1 }],
      "another account's stays",
    );
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await endPrograms();
    await environment.close();
  }
});

async function uploaded(api: Api): Promise<string> {
  const image = await plainImage(600, 400).jpeg().toBuffer();
  const upload = await call(api, '/api/v1/uploads', {
    method: 'POST',
    headers: { 'content-type': 'image/jpeg' },
    body: new Uint8Array(image),
  });
  return String(upload.body.data['url']);
}

function storeFolder({ settings: { resultStore } }: TestService): string {
  if (resultStore.kind !== 'folder') throw new Error('the tests keep results in a folder');
  return resultStore.path;
}
