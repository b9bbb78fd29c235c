import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
let key: string;
before(async () => {
  service = await startHttpService();
  ({ key } = await service.newAccount(0));
});
after(() => service.close());

test('a JSON body of 256 KiB is read, and one with a byte more is refused', async () => {
  const bodyOf = (bytes: number) => `{"model":"${'a'.repeat(bytes - '{"model":""}'.length)}"}`;
  for (const [bytes, status, error] of [
    [262_144, 422, 'invalid_request'],
    [262_145, 413, 'body_too_large'],
  ] as const) {
    const answer = await service.create(key, bodyOf(bytes));
    assert.deepEqual([answer.status, answer.json.error], [status, error]);
  }
});

test('a URL of 8,192 characters is read, and one with a character more is refused', async () => {
  const path = '/api/v1/jobs/recordInfo?taskId=';
  for (const [length, status, error] of [
    [8_192, 404, 'task_not_found'],
    [8_193, 414, 'url_too_long'],
  ] as const) {
    const answer = await service.recordInfo(key, 'a'.repeat(length - path.length));
    assert.deepEqual([answer.status, answer.json.error], [status, error]);
  }
});

test('headers of less than 16 KiB are read, and larger ones are refused', async () => {
  // Node.js also counts the other headers of the request.
  for (const [bytes, status] of [
    [16_384 - 512, 200],
    [16_384, 431],
  ] as const) {
    const headers = { authorization: `Bearer ${key}`, 'x-long': 'a'.repeat(bytes) };
    assert.equal((await service.send('GET', '/api/v1/models', { headers })).status, status);
  }
});
