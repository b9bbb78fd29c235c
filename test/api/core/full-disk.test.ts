import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

const taskRequest = { model: 'videogen-2.0-fast', input: { prompt: 'a boat', duration: 4 } };
let service: HttpService;
let problem: string | undefined;
let uploadError: Error | undefined;
before(async () => {
  service = await startHttpService({
    diskProblem: () => problem,
    storeUpload: () => Promise.reject(uploadError ?? new Error('planted')),
  });
});
after(() => service.close());

const errorOf = ({ status, headers, json }: Awaited<ReturnType<HttpService['send']>>) => [
  status,
  headers['retry-after'],
  json.error,
];

test('503 disk_full a create is refused without a charge while a disk is full, and accepted afterwards', async () => {
  const { key } = await service.newAccount(1_000);
  problem = 'disk full: data folder';
  assert.deepEqual(errorOf(await service.create(key, taskRequest)), [503, '30', 'disk_full']);
  problem = undefined;
  assert.equal((await service.create(key, taskRequest)).status, 200);
});

test('503 disk_full the full disk is named and not the database that it has stopped', async (t) => {
  const { key } = await service.newAccount(1_000);
  problem = 'disk full: data folder';
  t.after(() => (problem = undefined));
  const { db } = service.deps;
  const run = t.mock.method(db, 'run', () => Promise.reject(new DatabaseUnavailableError(false, new Error('refused'))));
  assert.deepEqual(errorOf(await service.recordInfo(key, 'any')), [503, '30', 'disk_full']);
  run.mock.restore();
});

test('503 disk_full an upload that fills the disk is refused, and another error is ours', async () => {
  const { key } = await service.newAccount(1_000);
  const upload = () =>
    service.send('POST', '/api/v1/uploads', {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png' },
      body: 'x',
    });
  uploadError = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
  assert.deepEqual(errorOf(await upload()), [503, '30', 'disk_full']);
  uploadError = new Error('planted');
  assert.deepEqual(errorOf(await upload()).slice(0, 1), [500]);
});
