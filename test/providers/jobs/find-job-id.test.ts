import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { findJobId } from '../../../src/providers/jobs/find-job-id.ts';

const ownNames = ['task_id', 'generation_id', 'video_id', 'job_id', 'prediction_id'];
const names = [...ownNames, 'request_id'].flatMap((name) => [name, name.replace('_id', 'Id')]);

const nameIn = (body: JsonObject) => findJobId(body)?.name;

describe('the id of a job', () => {
  test('has one of these names, alone or within one of these objects, whose fields are those of the record', () => {
    for (const name of ['id', ...names, 'uuid']) {
      const record = { [name]: 'job-1', status: 'queued' };
      assert.deepEqual(findJobId(record), { id: 'job-1', name, record });
      for (const wrapper of ['data', 'result', 'task', 'video', 'job', 'output']) {
        const body = { code: 200, status: 'ok', [wrapper]: record };
        assert.deepEqual(findJobId(body), {
          id: 'job-1',
          name: `${wrapper}.${name}`,
          record: { ...body, ...record },
        });
      }
    }
  });

  test('is the first of several; that of a request is the last', () => {
    const data = { id: 'inner' };
    assert.equal(nameIn({ uuid: 'u', task_id: 't', id: 'i', data }), 'id');
    assert.equal(nameIn({ uuid: 'u', task_id: 't', data }), 'task_id');
    assert.equal(nameIn({ uuid: 'u', data }), 'uuid');
    assert.equal(nameIn({ request_id: 'r', result: { id: 'other' }, data }), 'data.id');
    assert.equal(nameIn({ data: { request_id: 'r', uuid: 'u' } }), 'data.uuid');
  });

  test('is a text that is not empty, or a whole number that JSON keeps', () => {
    assert.equal(findJobId({ id: 17 })?.id, '17');
    for (const id of ['', 1.5, 2 ** 53, true, null, { id: 'x' }]) {
      assert.equal(findJobId({ id }), undefined);
      assert.equal(nameIn({ id, task_id: 't' }), 'task_id');
    }
    for (const body of [{}, { data: 'x' }, { data: {} }]) assert.equal(findJobId(body), undefined);
  });
});
