import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { callbackFormatOf } from '../../../src/api/dialects/shapes.ts';
import { taskRecord } from '../../../src/tasks/public-record.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

// Neither is the first alias of its model.
const names = ['bytedance/seedance-2-5', 'videogen-2.0'];
const tasks = '/api/v3/contents/generations/tasks';
const words = [{ type: 'text', text: 'A lighthouse' }];

/** A create of each API, and the place of its list. Records are read at the path of the create, followed by the id. */
const shapes = {
  openai: { path: '/v1/videos', body: { prompt: 'A lighthouse' }, list: '/v1/videos', listed: 'data' },
  openrouter: { path: '/api/v1/videos', body: { prompt: 'A lighthouse' } },
  ark: { path: tasks, body: { content: words }, list: tasks, listed: 'items' },
} as const;

async function send(key: string, method: string, path: string, body?: object) {
  const { status, bytes, headers } = await service.send(method, path, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(status < 300, bytes.toString());
  return { json: JSON.parse(bytes.toString()) as Record<string, unknown>, headers }; // every body here is an object
}

for (const [name, shape] of Object.entries(shapes)) {
  for (const model of names) {
    test(`${name}: records, lists and callbacks name ${model} as the create did`, async () => {
      const { key } = await service.newAccount(10_000);
      const id = String((await send(key, 'POST', shape.path, { model, ...shape.body })).json['id']);
      const record = await send(key, 'GET', `${shape.path}/${id}`);
      assert.ok(name === 'openrouter' || record.json['model'] === model, JSON.stringify(record.json));
      if ('list' in shape) {
        const [first] = (await send(key, 'GET', shape.list)).json[shape.listed] as readonly Record<string, unknown>[];
        assert.equal(first?.['model'], model);
      }
      const task = await findTask(service.database.db, id);
      assert.ok(task);
      assert.equal(task.param.model, 'videogen-2.0');
      const sent = callbackFormatOf(name).callbackBody(
        taskRecord(task, 0, { resultUrls: [] }),
        service.deps.catalogue().models,
      );
      if (name !== 'openai') assert.ok(sent.includes(`"model":"${model}"`), sent);
    });
  }
}

test('kie: the record and its param name the model as the create did, and another name of it is the same request', async () => {
  const { accountId } = await service.newAccount(10_000);
  const created = await createKeyUnchecked(service.database.db, { accountId, name: 'kie', scopes, dialect: 'kie' });
  const headers = {
    authorization: `Bearer ${created?.key ?? ''}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const create = (model: string) =>
    service.send('POST', '/api/v1/jobs/createTask', {
      headers,
      body: JSON.stringify({ model, input: { prompt: 'A cat', speed: 2 } }),
    });
  const first = await create('bytedance/seedance-2-5');
  const { taskId } = first.json.data as { readonly taskId: string };
  const record = (await service.recordInfo(created?.key ?? '', taskId)).json.data;
  assert.equal(record['model'], 'bytedance/seedance-2-5');
  assert.equal((JSON.parse(String(record['param'])) as Record<string, unknown>)['model'], 'bytedance/seedance-2-5');
  assert.deepEqual((await create('bytedance/seedance-2')).json.data, first.json.data);
  assert.equal(first.headers['unused-fields'], 'input.speed');
});

test('no field is dropped silently: the response names those that changed nothing', async () => {
  const { key } = await service.newAccount(10_000);
  const model = 'videogen-2.0';
  const unused = async (path: string, body: object) =>
    (await send(key, 'POST', path, { model, ...body })).headers['unused-fields'];
  const openAI = { prompt: 'A', user: 'u', metadata: { order: '1' } };
  assert.equal(await unused('/v1/videos', openAI), 'user, metadata.order');
  assert.equal(await unused('/api/v1/videos', { prompt: 'B', session_id: 's', trace: {} }), 'session_id, trace');
  assert.equal(
    await unused(tasks, { content: words, execution_expires_after: 60, fps: 24 }),
    'execution_expires_after, fps',
  );
  assert.equal(await unused(tasks, { content: words, watermark: false }), undefined);
});
