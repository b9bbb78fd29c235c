import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKeyUnchecked } from '../../../../src/accounts/keys/keys.ts';
import { startHttpService } from '../../../support/service/http-service.ts';
import { markMediaDeleted } from '../../../../src/tasks/end/expired-media-rows.ts';
import { failAndRefund } from '../../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import { entryKinds } from '../../../support/tasks/tasks.ts';
import { assertError, created, least, read, useOpenAI } from './openai-stage.ts';
import { assertFailure, testCreateFailures } from '../shape-failures.ts';

const { service, account, send, post, succeed } = useOpenAI();

describe('every documented failure of a create', () => {
  testCreateFailures({
    path: '/v1/videos',
    success: 200,
    body: (prompt, input_reference) => ({ model: 'videogen-2.0-fast', prompt, seconds: '4', input_reference }),
  });
});

describe('a video', () => {
  test('is described until its end, with the pause between two polls', async () => {
    const answer = await post({ ...least, seconds: '4', size: '1280x720' });
    assert.equal(answer.headers['openai-poll-after-ms'], '2000');
    const id = String(read(answer)['id']);
    const waiting = await send('GET', `/v1/videos/${id}`);
    assert.equal(waiting.headers['openai-poll-after-ms'], '2000');
    const shown = read(waiting);
    assert.deepEqual(
      [shown['status'], shown['model'], shown['size'], shown['seconds'], shown['expires_at']],
      ['queued', least.model, '1280x720', '4', null],
    );
    await succeed(id);
    const { status, completed_at, expires_at } = read(await send('GET', `/v1/videos/${id}`));
    assert.equal(status, 'completed');
    assert.equal(Number(expires_at) - Number(completed_at), 14 * 86_400);
  });

  test('has no spritesheet, and no content before its end and once it was deleted', async () => {
    const id = await created(post(least));
    assertFailure(await send('GET', `/v1/videos/${id}/content`), 'task_not_finished');
    await succeed(id);
    assertFailure(await send('GET', `/v1/videos/${id}/content?variant=spritesheet`), 'variant_not_offered');
    assertError(await send('GET', `/v1/videos/${id}/content?variant=gif`), 422, 'variant', /must be one of video/);
    await markMediaDeleted(service().database.db, id);
    assertFailure(await send('GET', `/v1/videos/${id}/content`), 'media_deleted');
  });

  test('that failed has no content, and its reason is shown', async () => {
    const id = await created(post(least));
    await failAndRefund(service().database.db, id, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    assertError(await send('GET', `/v1/videos/${id}/content`), 409, null, /The task was cancelled\. \(cancelled\)$/);
    const { status, error } = read(await send('GET', `/v1/videos/${id}`));
    assert.deepEqual([status, error], ['failed', { code: 'cancelled', message: 'The task was cancelled.' }]);
  });

  test('of another account is not found, like an unknown one', async () => {
    const id = await created(post(least));
    const { key } = await service().newAccount(0);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/content'],
      ['DELETE', ''],
    ] as const) {
      for (const one of [id, '01900000-0000-7000-8000-000000000000', 'video_1']) {
        assertFailure(await send(method, `/v1/videos/${one}${path}`, key), 'task_not_found');
      }
    }
    assertError(await send('GET', '/v1/videos?after=x'), 422, 'after', /must be the id/);
    assertError(await send('GET', '/v1/videos?limit=0'), 422, 'limit', /from 1 to 100/);
    assertError(await send('GET', '/v1/videos?cursor=x'), 422, null, /unknown parameter/);
  });
});

test('a repeated create answers the same video, and shows that it charged nothing', async () => {
  const { key } = await service().newAccount(10_000);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'once' };
  const create = async () => read(await service().send('POST', '/v1/videos', { headers, body: JSON.stringify(least) }));
  const first = await create();
  assert.equal('replayed' in first, false);
  assert.deepEqual(await create(), { ...first, replayed: true });
  assert.deepEqual(await entryKinds(service().database.db, String(first['id'])), ['charge']);
});

test('videos are listed page by page in both orders', async () => {
  const { key } = await service().newAccount(10_000);
  const ids: string[] = [];
  for (const prompt of ['1', '2', '3']) ids.push(await created(post({ ...least, prompt }, key)));
  const [first, second, third] = ids;
  const page = async (query: string) => {
    const { data, ...others } = read(await send('GET', `/v1/videos${query}`, key));
    return { ...others, ids: (data as readonly { id: string }[]).map(({ id }) => id) }; // the list's schema
  };
  const pageOf = (has_more: boolean, ...shown: readonly (string | undefined)[]) => {
    const [first_id, last_id] = [shown[0] ?? null, shown.at(-1) ?? null];
    return { object: 'list', first_id, last_id, has_more, ids: shown };
  };
  assert.deepEqual(await page(''), pageOf(false, third, second, first));
  assert.deepEqual(await page('?limit=3'), pageOf(false, third, second, first));
  assert.deepEqual(await page('?limit=2'), pageOf(true, third, second));
  assert.deepEqual(await page(`?limit=2&after=${second}`), pageOf(false, first));
  assert.deepEqual(await page('?limit=1&order=asc'), pageOf(true, first));
  assert.deepEqual(await page(`?order=asc&after=${first}`), pageOf(false, second, third));
  assert.deepEqual(await page(`?after=${first}`), pageOf(false));
});

describe('a deletion', () => {
  const deleted = (id: string) => ({ id, object: 'video.deleted', deleted: true });

  test('of a running video cancels and refunds it once, and a repeat leaves it readable, for keys of any scopes', async (t) => {
    // A clock that stands still, because a repeat counts for a minute.
    const startedAt = Date.now();
    const own = await startHttpService({ database: service().database, now: () => startedAt });
    t.after(() => own.close());
    const mayDelete = await service().newAccount(10_000, ['tasks:write', 'tasks:read', 'content:delete']);
    const mayCancel = await service().newAccount(10_000, ['tasks:write', 'tasks:read']);
    for (const { key } of [mayCancel, mayDelete]) {
      const id = await created(post(least, key));
      const headers = { authorization: `Bearer ${key}` };
      for (const _ of [1, 2])
        assert.deepEqual(read(await own.send('DELETE', `/v1/videos/${id}`, { headers })), deleted(id));
      assert.deepEqual(await entryKinds(service().database.db, id), ['charge', 'refund']);
      assert.equal(own.stopped.filter(({ taskId }) => taskId === id).length, 1);
      assert.equal(read(await send('GET', `/v1/videos/${id}`, key))['status'], 'failed');
    }
  });

  test('of a video that was cancelled a minute ago deletes it', async (t) => {
    let now = 0;
    const { database } = service();
    const later = await startHttpService({ database, now: () => now });
    t.after(() => later.close());
    const { key } = await service().newAccount(10_000, ['tasks:write', 'tasks:read', 'content:delete']);
    const id = await created(post(least, key));
    await send('DELETE', `/v1/videos/${id}`, key);
    const cancelledAt = (await findTask(database.db, id))?.completedAt ?? 0;
    const headers = { authorization: `Bearer ${key}` };
    for (const [sinceMs, status] of [
      [59_999, 200],
      [60_000, 404],
    ] as const) {
      now = cancelledAt + sinceMs;
      assert.deepEqual(read(await later.send('DELETE', `/v1/videos/${id}`, { headers })), deleted(id));
      assert.equal((await send('GET', `/v1/videos/${id}`, key)).status, status);
    }
  });

  test('of a video that has ended needs the scope of deletions, and takes it from the list', async () => {
    const own = await service().newAccount(10_000);
    const [first, second] = [await created(post(least, own.key)), await created(post(least, own.key))];
    await succeed(first);
    const refused = await send('DELETE', `/v1/videos/${first}`, own.key);
    assertFailure(refused, 'scope_missing');
    const scopes = ['tasks:write', 'tasks:read', 'content:delete'] as const;
    const made = await createKeyUnchecked(service().database.db, { accountId: own.accountId, name: 'a', scopes });
    assert.ok(made);
    for (const _ of [1, 2])
      assert.deepEqual(read(await send('DELETE', `/v1/videos/${first}`, made.key)), deleted(first));
    assertFailure(await send('GET', `/v1/videos/${first}`, made.key), 'task_not_found');
    assertFailure(await send('GET', `/v1/videos/${first}/content`, made.key), 'task_not_found');
    const { data, ...page } = read(await send('GET', '/v1/videos', made.key));
    assert.deepEqual(page, { object: 'list', first_id: second, last_id: second, has_more: false });
    assert.equal((data as unknown[]).length, 1);
    assert.deepEqual(await entryKinds(service().database.db, first), ['charge'], 'a finished video stays paid');
  });
});

describe('the other paths', () => {
  test('models are listed by each of their names', async () => {
    const { data } = read(await send('GET', '/v1/models')) as { data: { id: string; owned_by: string }[] }; // the list's schema
    assert.deepEqual(
      data.map(({ id, owned_by }) => [id, owned_by]),
      [
        ['studio/rich', 'rich'],
        ['rich', 'rich'],
        ['plain', 'plain'],
      ],
    );
    assert.equal(read(await send('GET', '/v1/models/studio%2Frich'))['id'], 'studio/rich');
    assertFailure(await send('GET', '/v1/models/sora-2'), 'model_not_found');
  });

  test('a model that no worker can generate is neither listed nor retrieved', async (t) => {
    const { database, deps } = service();
    const apart = await startHttpService({ database, catalogue: deps.catalogue, isSold: (model) => model === 'plain' });
    t.after(() => apart.close());
    const headers = { authorization: `Bearer ${account().key}` };
    const get = (path: string) => apart.send('GET', path, { headers });
    const plain = { id: 'plain', object: 'model', created: 0, owned_by: 'plain' };
    assert.deepEqual(read(await get('/v1/models')), { object: 'list', data: [plain] });
    assert.deepEqual(read(await get('/v1/models/plain')), plain);
    assertFailure(await get('/v1/models/rich'), 'model_not_found');
  });

  for (const path of [
    'POST /v1/videos/edits',
    'POST /v1/videos/extensions',
    'POST /v1/videos/characters',
    'GET /v1/videos/characters/char_1',
    'POST /v1/videos/video_1/remix',
  ]) {
    test(`501 ${path}`, async () => {
      const [method = '', url = ''] = path.split(' ');
      const refused = await send(method, url);
      assertFailure(refused, 'not_offered');
      assert.equal(refused.headers['x-should-retry'], 'false');
    });
  }

  test('404 and 405 have OpenAI’s form', async () => {
    assertError(await send('POST', '/v1/chat/completions'), 404, null, /unknown endpoint/);
    for (const path of ['/v1/video/generations', '/v1/video/create'])
      assertError(await send('POST', path), 404, null, /POST \/v1\/videos creates a video/);
    assertError(await send('PUT', '/v1/videos'), 405, null, /not allowed/);
  });

  test('a key of the dialect kie works, too', async () => {
    const scopes = ['tasks:write', 'tasks:read'] as const;
    const { accountId } = account();
    const made = await createKeyUnchecked(service().database.db, { accountId, name: 'k', scopes, dialect: 'kie' });
    assert.ok(made);
    const id = await created(post(least, made.key));
    assert.equal(read(await send('GET', `/v1/videos/${id}`, made.key))['id'], id);
  });
});
