import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ReadTaskRecorder } from '../../../src/tasks/list/record-tasks-seen.ts';
import { storeVideo } from '../../library/gallery/gallery-stage.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

// A task that a client has read is not taken for an attempt at a later create, so each read has to be recorded.

let service: HttpService;
let key: string;
let taskId: string;
const seen: unknown[] = [];
before(async () => {
  const seenTasks: ReadTaskRecorder = {
    record: (by, tasks) => {
      seen.push([by.kind, ...tasks.map((task) => task.taskId)]);
      return Promise.resolve();
    },
  };
  service = await startHttpService({ seenTasks });
  const account = await service.newAccount(1_000);
  ({ key } = account);
  ({ taskId } = await storeVideo(service, account.accountId, 'A lighthouse'));
});
after(() => service.close());

const arkTasks = '/api/v3/contents/generations/tasks';
for (const path of [
  '/api/v1/jobs/recordInfo?taskId={id}',
  '/api/v1/jobs/timeline?taskId={id}',
  '/api/v1/jobs/listTasks',
  '/api/v1/gallery/videos',
  '/v1/videos/{id}',
  '/v1/videos/{id}/content',
  '/v1/videos',
  '/api/v1/videos/{id}',
  '/api/v1/videos/{id}/content',
  `${arkTasks}/{id}`,
  arkTasks,
]) {
  test(`GET ${path} records that the client has read the task`, async () => {
    seen.length = 0;
    const headers = { authorization: `Bearer ${key}` };
    const { status, bytes } = await service.send('GET', path.replace('{id}', taskId), { headers });
    assert.equal(status, 200, bytes.toString().slice(0, 500));
    assert.deepEqual(seen, [['key', taskId]]);
  });
}

test('the tool get_video records that the client has read the task', async () => {
  seen.length = 0;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = { name: 'get_video', arguments: { taskId } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  assert.equal((await service.send('POST', '/mcp', { headers, body })).status, 200);
  assert.deepEqual(seen, [['key', taskId]]);
});
