import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import type { Scope } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { storeVideo } from '../../library/gallery/gallery-stage.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { askWith, createTestOperator, dataOf } from '../../support/service/operator-key.ts';
import { newMember } from '../../support/service/person.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const may: readonly Scope[] = ['content:delete'];
const stored = async (accountId: string) => (await storeVideo(service, accountId, 'a lighthouse')).taskId;
const unfinished = (accountId: string) => acceptTestTask(service.database.db, accountId, taskParam('waits'));
const hasVideo = async (taskId: string) =>
  (await service.deps.resultStore.sizeOf(`results/${taskId}/video.mp4`)) !== undefined;
const deletedAt = async (taskId: string) => (await findTask(service.database.db, taskId))?.contentDeletedAt;

test('200 a task that has ended loses its content and its video at once; a repeat has the same time', async () => {
  const { accountId, key } = await service.newAccount(1_000, may);
  const other = await service.newAccount(1_000, may);
  const [taskId, kept, theirs] = [await stored(accountId), await stored(accountId), await stored(other.accountId)];
  const waits = await unfinished(accountId);
  const remove = (id: string) => askWith(service, key)('POST', '/api/v1/jobs/deleteTask', { body: { taskId: id } });
  const deleted = await dataOf(remove(taskId));
  assert.deepEqual(deleted, { taskId, contentDeleteTime: await deletedAt(taskId) });
  assert.equal(typeof deleted['contentDeleteTime'], 'number');
  assert.deepEqual(await Promise.all([taskId, kept, theirs].map(hasVideo)), [false, true, true]);
  assert.deepEqual(await dataOf(remove(taskId)), deleted);
  for (const id of [theirs, randomUUID(), 'x']) assert.equal((await remove(id)).json.error, 'task_not_found', id);
  const { status, json } = await remove(waits);
  assert.deepEqual([status, json.error], [409, 'task_not_finished']);
  assert.deepEqual(await Promise.all([kept, theirs, waits].map(deletedAt)), [undefined, undefined, undefined]);
});

test('200 several tasks are deleted, each on its own: others and those of another account stay and are counted', async () => {
  const { accountId, key } = await service.newAccount(1_000, may);
  const other = await service.newAccount(1_000, may);
  const [one, two, theirs] = [await stored(accountId), await stored(accountId), await stored(other.accountId)];
  const waits = await unfinished(accountId);
  const body = { taskIds: [two, theirs, waits, one, randomUUID(), two] };
  const ask = () => askWith(service, key)('POST', '/api/v1/jobs/deleteTasks', { body });
  const shown = await dataOf(ask());
  assert.deepEqual(shown, {
    tasks: [
      { taskId: two, deleted: true, contentDeleteTime: await deletedAt(two) },
      { taskId: waits, deleted: false, contentDeleteTime: null },
      { taskId: one, deleted: true, contentDeleteTime: await deletedAt(one) },
    ],
    notFound: 2,
  });
  assert.equal(typeof (await deletedAt(one)), 'number');
  assert.deepEqual(await Promise.all([theirs, waits].map(deletedAt)), [undefined, undefined]);
  assert.deepEqual(await Promise.all([one, two, theirs].map(hasVideo)), [false, false, true]);
  assert.deepEqual(await dataOf(ask()), shown, 'a repeat');
});

test('403 keys without the scope, and people who are not owners', async () => {
  const plain = await service.newAccount(1_000);
  const [{ accountId, person }, owner] = [await newMember(service, 'member'), await newMember(service)];
  for (const [path, bodyOf] of [
    ['/api/v1/jobs/deleteTask', (taskId: string) => ({ taskId })],
    ['/api/v1/jobs/deleteTasks', (taskId: string) => ({ taskIds: [taskId] })],
  ] as const) {
    const [ofKey, ofMember, ofOwner] = [
      await stored(plain.accountId),
      await stored(accountId),
      await stored(owner.accountId),
    ];
    const answers = [
      await askWith(service, plain.key)('POST', path, { body: bodyOf(ofKey) }),
      await person.ask('POST', path, { accountId, body: bodyOf(ofMember) }),
      await owner.person.ask('POST', path, { accountId: owner.accountId, body: bodyOf(ofOwner) }),
    ];
    assert.deepEqual(
      answers.map(({ status, json }) => [status, json.error]),
      [
        [403, 'scope_missing'],
        [403, 'scope_missing'],
        [200, undefined],
      ],
    );
    assert.deepEqual(await Promise.all([ofKey, ofMember].map(deletedAt)), [undefined, undefined]);
  }
});

test('200 an operator deletes a task of any account, with its video, and the reason is in the audit log alone', async () => {
  const { ask } = await createTestOperator(service);
  const { accountId } = await service.newAccount(1_000);
  const [taskId, kept] = [await stored(accountId), await stored(accountId)];
  const remove = (id: string) =>
    ask('POST', '/api/admin/v1/tasks/delete', { body: { taskId: id, reason: 'unlawful' } });
  assert.deepEqual(await dataOf(remove(taskId)), { taskId, contentDeleteTime: await deletedAt(taskId) });
  assert.deepEqual(await Promise.all([taskId, kept].map(hasVideo)), [false, true]);
  const [{ details, taskId: of, accountId: at } = assert.fail()] = await listOperatorActions(service.database.db, {
    limit: 1,
  });
  assert.deepEqual([details['reason'], of, at], ['unlawful', taskId, accountId]);
  assert.equal((await remove(randomUUID())).json.error, 'task_not_found');
  assert.equal((await remove(await unfinished(accountId))).json.error, 'task_not_finished');
});
