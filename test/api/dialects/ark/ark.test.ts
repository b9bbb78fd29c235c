import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createKeyUnchecked } from '../../../../src/accounts/keys/keys.ts';
import { findDelivery } from '../../../../src/tasks/callbacks/deliveries.ts';
import { callbackFormatOf } from '../../../../src/api/dialects/shapes.ts';
import { failAndRefund } from '../../../../src/tasks/end/end-task-statements.ts';
import { beginGenerationAttempt } from '../../../../src/tasks/task-rows.ts';
import { presentTask } from '../../../../src/api/tasks/task-view.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import { testCreateFailures } from '../shape-failures.ts';
import { type Json, tasksPath, text, useArk } from './ark-dialect-stage.ts';

const { service, client, call, succeeded } = useArk();

const db = () => service().database.db;
const errorOf = ({ body }: { readonly body: Json }) => body['error'] as Readonly<Record<string, string>>; // Ark's form

test('a new task is queued, and has every field that clients of Ark read', async () => {
  const { created, get } = await client();
  const id = await created({ ratio: '9:16', duration: 4, seed: 7, safety_identifier: 'user-1', generate_audio: false });
  const { status, body } = await get(id);
  const { created_at: createdAt, updated_at: updatedAt, ...others } = body;
  assert.equal(status, 200);
  assert.ok(Math.abs(Number(createdAt) - Date.now() / 1000) < 3600, 'seconds');
  assert.ok(Number(updatedAt) >= Number(createdAt));
  assert.deepEqual(others, {
    id,
    model: 'seedance',
    status: 'queued',
    content: null,
    usage: null,
    error: null,
    seed: 7,
    resolution: '720p',
    ratio: '9:16',
    duration: 4,
    framespersecond: null,
    generate_audio: false,
    safety_identifier: 'user-1',
  });
});

test('a task that has succeeded has a link, the frame rate of its video, and what it cost', async () => {
  const { created, get, balance } = await client();
  const id = await created({ model: 'doubao-seedance-2-0-260128', duration: 4, return_last_frame: true });
  await succeeded(id, true);
  const { status, content, usage, framespersecond } = (await get(id)).body;
  assert.deepEqual([status, framespersecond], ['succeeded', 24]);
  assert.deepEqual(usage, { completion_tokens: 0, total_tokens: 0, credits: 132 });
  const links = content as Readonly<Record<string, string>>; // of a success
  assert.match(String(links['video_url']), /^http:\/\/media\.test\/media\/results\/.*video\.mp4\?/);
  assert.match(String(links['last_frame_url']), /^http:\/\/media\.test\/media\/results\/.*last\.jpg\?/);
  assert.equal(await balance(), 10_000 - 132);
});

test('a task that failed or took too long is `failed` with our code, because clients stop polling there', async () => {
  const { created, get } = await client();
  for (const failCode of ['timeout', 'content_rejected'] as const) {
    const id = await created({});
    await failAndRefund(db(), id, { failCode, failMsg: 'It failed.' }, { terminatesAfterMs: 0 });
    const { status, error, usage } = (await get(id)).body;
    assert.deepEqual([status, error, usage], ['failed', { code: failCode, message: 'It failed.' }, null]);
  }
});

test('DELETE cancels a task in any unfinished state with a refund', async () => {
  const { created, get, remove, balance } = await client();
  const [queued, running] = [await created({}), await created({})];
  await beginGenerationAttempt(db(), running);
  assert.equal((await get(running)).body['status'], 'running');
  for (const id of [queued, running]) {
    assert.deepEqual((await remove(id)).body, {});
    const { status, error } = (await get(id)).body;
    assert.deepEqual([status, error], ['cancelled', { code: 'cancelled', message: 'The task was cancelled.' }]);
    assert.ok(service().stopped.some(({ taskId }) => taskId === id));
  }
  assert.equal(await balance(), 10_000);
});

test('DELETE of a task that has ended deletes its content: it is not found any more, and the charge stays', async () => {
  const { created, get, remove, list, native, balance } = await client();
  const id = await created({ safety_identifier: 'user-1' });
  await succeeded(id);
  assert.equal((await remove(id)).status, 200);
  for (const answer of [await get(id), await remove(id)]) {
    assert.deepEqual([answer.status, errorOf(answer)['code']], [404, 'task_not_found']);
  }
  assert.deepEqual((await list()).body, { total: 0, items: [] });
  const { param } = await native(id);
  assert.doesNotMatch(JSON.stringify(param), /lighthouse|user-1/);
  assert.equal(await balance(), 10_000 - 165);
});

test('403 a key without content:delete may cancel, but not delete', async () => {
  const { created, remove } = await client(['tasks:write', 'tasks:read']);
  const [ended, running] = [await created({}), await created({})];
  await succeeded(ended);
  const refused = await remove(ended);
  assert.equal(refused.status, 403);
  assert.match(String(errorOf(refused)['message']), /content:delete/);
  assert.equal((await remove(running)).status, 200);
});

describe('the list', () => {
  test('has pages, newest first, with the total of all', async () => {
    const { created, list } = await client();
    const ids: string[] = [];
    for (const _ of [1, 2, 3, 4, 5]) ids.unshift(await created({}));
    const page = async (query: string) => {
      const { total, items } = (await list(query)).body;
      return { total, ids: (items as readonly Json[]).map(({ id }) => id) }; // a list
    };
    assert.deepEqual(await page('?page_size=2'), { total: 5, ids: ids.slice(0, 2) });
    assert.deepEqual(await page('?page_num=3&page_size=2'), { total: 5, ids: ids.slice(4) });
    assert.deepEqual(await page('?page_num=4&page_size=2'), { total: 5, ids: [] });
  });

  test('filters by status, model and ids, also by a hundred ids', async () => {
    const { created, list, remove } = await client();
    const other = await client();
    const foreign = await other.created({});
    const [queued, running, done, failed, cancelled] = await Promise.all([1, 2, 3, 4, 5].map(() => created({})));
    const plain = await created({ model: 'plain' });
    await beginGenerationAttempt(db(), running ?? '');
    await succeeded(done ?? '');
    await failAndRefund(db(), failed ?? '', { failCode: 'timeout', failMsg: 'x' }, { terminatesAfterMs: 0 });
    await remove(cancelled ?? '');
    const found = async (query: string) => {
      const { total, items } = (await list(query)).body;
      const ids = (items as readonly Json[]).map(({ id }) => String(id)); // a list
      assert.equal(total, ids.length);
      return ids.toSorted();
    };
    const sorted = (...ids: readonly (string | undefined)[]) => ids.map(String).toSorted();
    assert.deepEqual(await found('?filter.status=queued'), sorted(queued, plain));
    assert.deepEqual(await found('?filter.status=running'), sorted(running));
    assert.deepEqual(await found('?filter.status=succeeded'), sorted(done));
    assert.deepEqual(await found('?filter.status=failed'), sorted(failed));
    assert.deepEqual(await found('?filter.status=cancelled'), sorted(cancelled));
    assert.deepEqual(await found('?filter.status=expired'), []);
    assert.deepEqual(await found('?filter.model=plain'), sorted(plain));
    const seedance = sorted(queued, running, done, failed, cancelled);
    for (const name of ['seedance', 'doubao-seedance-2-0-260128']) {
      assert.deepEqual(await found(`?filter.model=${name}`), seedance);
    }
    assert.deepEqual(
      await found(`?filter.task_ids=${done}&filter.task_ids=${foreign}&filter.task_ids=x`),
      sorted(done),
    );
    const hundred = [...seedance, ...Array.from({ length: 95 }, () => crypto.randomUUID())];
    assert.deepEqual(await found(`?${hundred.map((id) => `filter.task_ids=${id}`).join('&')}`), seedance);
  });

  test('422 a filter that is unknown or out of range', async () => {
    const { list } = await client();
    for (const query of ['?filter.state=queued', '?filter.status=done', '?page_size=501', '?page_num=0']) {
      const answer = await list(query);
      assert.deepEqual([answer.status, errorOf(answer)['code']], [422, 'invalid_request'], query);
    }
  });
});

test('tasks of other accounts, unknown ids and unknown paths are not found, in the form of Ark', async () => {
  const [{ created }, { key }] = [await client(), await client()];
  const foreign = await created({});
  for (const [method, path, code] of [
    ['GET', `${tasksPath}/${foreign}`, 'task_not_found'],
    ['DELETE', `${tasksPath}/${foreign}`, 'task_not_found'],
    ['GET', `${tasksPath}/cgt-20261122000000-abcde`, 'task_not_found'],
    ['POST', '/api/v3/images/generations', 'unknown_endpoint'],
    ['GET', '/api/v3', 'unknown_endpoint'],
  ] as const) {
    const answer = await call(key, method, path);
    assert.equal(answer.status, 404, path);
    assert.deepEqual(Object.keys(errorOf(answer)), ['code', 'message', 'param', 'type']);
    assert.deepEqual([errorOf(answer)['code'], errorOf(answer)['type']], [code, 'NotFound']);
  }
});

test('a key of the dialect kie works as well', async () => {
  const { accountId } = await client();
  const scopes = ['tasks:write', 'tasks:read'] as const;
  const created = await createKeyUnchecked(db(), { accountId, name: 'theirs', scopes, dialect: 'kie' });
  assert.ok(created);
  const { status } = await call(created.key, 'POST', tasksPath, { model: 'plain', content: [text('a lighthouse')] });
  assert.equal(status, 200);
});

test('an Idempotency-Key buys one task for any end user', async () => {
  const { create, balance } = await client();
  const headers = { 'idempotency-key': 'one' };
  const answers = [];
  for (const safety_identifier of ['a', 'a', 'b']) {
    answers.push(await create({ model: 'seedance', content: [text('a lighthouse')], safety_identifier }, headers));
  }
  assert.equal(new Set(answers.map(({ body }) => body['id'])).size, 1);
  assert.deepEqual(
    answers.map((answer) => answer.headers['idempotency-replayed']),
    [undefined, 'true', 'true'],
  );
  assert.deepEqual(
    answers.map(({ body }) => body['replayed']),
    [undefined, true, true],
  );
  assert.equal(await balance(), 10_000 - 165);
});

test('the body of a callback is the task as GET returns it', async () => {
  const { created, get } = await client();
  const id = await created({ callback_url: 'https://client.example/done' });
  await succeeded(id);
  const delivery = await findDelivery(db(), id);
  const task = await findTask(db(), id);
  assert.ok(task && delivery);
  const record = await presentTask(service().deps, task);
  const body = callbackFormatOf(delivery.dialect).callbackBody(record, service().deps.catalogue().models);
  const withoutSignature = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll(/\?[^"]*/g, '')) as unknown;
  assert.deepEqual(withoutSignature(JSON.parse(body)), withoutSignature((await get(id)).body));
});

testCreateFailures({
  path: tasksPath,
  success: 200,
  body: (prompt, url) => ({
    model: 'videogen-2.0-fast',
    content: [
      text(prompt),
      ...(url === undefined ? [] : [{ type: 'image_url', image_url: { url }, role: 'reference_image' }]),
    ],
  }),
});
