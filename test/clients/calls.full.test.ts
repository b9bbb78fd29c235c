import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Client, type ResponseInfo, VideogenError } from '../../clients/typescript/src/index.ts';
import {
  answer,
  hangUp,
  playedClient,
  type ScriptedService,
  silence,
  startScriptedService,
  type Step,
} from '../support/service/scripted-service.ts';

const request = { model: 'videogen-2.0-fast', input: { prompt: 'A lighthouse' } };
const created = answer(200, { taskId: 't1', creditsCharged: 165 });
const record = (state: string, resultUrls: readonly string[] = []) =>
  answer(200, {
    taskId: 't1',
    state,
    failMsg: 'The picture is broken.',
    creditsRefunded: 165,
    resultJson: { resultUrls },
  });

const services: ScriptedService[] = [];
const scripted = async (...script: readonly Step[]) => {
  const service = await startScriptedService(...script);
  services.push(service);
  return service;
};
after(async () => {
  for (const service of services) await service.close();
});

async function errorOf(call: Promise<unknown>): Promise<VideogenError> {
  const outcome = await call.then(
    (value) => assert.fail(`the call returned ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof VideogenError, String(outcome));
  return outcome;
}

describe('generate', () => {
  test('creates one task, even if a response is lost, reports its progress, and returns the link and record of its video', async () => {
    const { url, seen } = await scripted(hangUp, created, record('generating'), record('success', ['http://v/1.mp4']));
    const states: string[] = [];
    const video = await playedClient(url).client.generate(request, { onProgress: ({ state }) => states.push(state) });
    assert.deepEqual([video.url, video.record.taskId, states], ['http://v/1.mp4', 't1', ['generating', 'success']]);
    const keys = seen.slice(0, 2).map(({ headers }) => headers['idempotency-key']);
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    assert.equal(keys[1], keys[0]);
    assert.equal(seen.filter(({ path }) => path.endsWith('createTask')).length, 2);
  });

  test('of a task that fails throws no_video with its record', async () => {
    const { url } = await scripted(created, record('fail'));
    const error = await errorOf(playedClient(url).client.generate(request));
    assert.deepEqual([error.kind, error.record?.creditsRefunded], ['no_video', 165]);
    assert.match(error.message, /The picture is broken\./);
  });

  test('that ends early throws the idempotency key, with which it continues to wait for the same task', async () => {
    const { url, seen } = await scripted(created, hangUp, created, record('success', ['http://v/1.mp4']));
    const { client } = playedClient(url);
    const error = await errorOf(client.generate(request, { maxTries: 1 }));
    assert.equal(error.kind, 'unreachable');
    assert.ok(error.cause instanceof Error, 'the error has its cause');
    await client.generate(request, { idempotencyKey: error.idempotencyKey });
    const creates = seen.filter(({ path }) => path.endsWith('createTask'));
    assert.deepEqual(
      creates.map(({ headers }) => headers['idempotency-key']),
      Array(2).fill(error.idempotencyKey),
    );
    const held = await scripted(created, silence);
    const late = await errorOf(
      playedClient(held.url).client.generate(request, { idempotencyKey: 'k', timeoutMs: 500 }),
    );
    assert.deepEqual([late.kind, late.idempotencyKey], ['unfinished', 'k']);
    const stop = new Error('enough');
    const aborted = playedClient(url).client.generate(request, { signal: AbortSignal.abort(stop) });
    await assert.rejects(aborted, (reason) => reason === stop);
  });
});

describe('upload', () => {
  const uploaded = answer(200, { url: 'http://v/boat', kind: 'image', fields: ['imageUrls'] });

  test('sends a Blob, a File, or bytes with the type that it has or is given, again after a lost response', async () => {
    const { url, seen } = await scripted(hangUp, uploaded);
    const { client } = playedClient(url);
    const media = await client.upload(new Blob(['boat'], { type: 'image/png' }));
    assert.deepEqual([media.url, media.kind, media.fields], ['http://v/boat', 'image', ['imageUrls']]);
    await client.upload(new Blob(['boat']), { contentType: 'video/mp4' });
    await client.upload(new TextEncoder().encode('boat'), { contentType: 'image/jpeg' });
    await client.upload(Buffer.from('boat'), { contentType: 'audio/wav' });
    const file = join(await mkdtemp(join(tmpdir(), 'videogen-upload-')), 'boat.webp');
    await writeFile(file, 'boat');
    const fromDisk = await openAsBlob(file, { type: 'image/webp' });
    await client.upload(fromDisk);
    await client.upload(fromDisk);
    assert.deepEqual(
      seen.map(({ path, headers, body }) => `${path} ${headers['content-type']} ${headers['content-length']} ${body}`),
      ['image/png', 'image/png', 'video/mp4', 'image/jpeg', 'audio/wav', 'image/webp', 'image/webp'].map(
        (type) => `/api/v1/uploads ${type} 4 boat`,
      ),
    );
  });

  test('of bytes that change on the way sends what they were', async () => {
    const bytes = Buffer.from('boat');
    const spoil: Step = (response) => {
      bytes.fill('x');
      response.destroy();
    };
    const { url, seen } = await scripted(spoil, uploaded);
    await playedClient(url).client.upload(bytes, { contentType: 'image/png' });
    assert.deepEqual(
      seen.map(({ body }) => body),
      ['boat', 'boat'],
    );
  });

  test('without a type is sent as bytes, whose content the service judges', async () => {
    const { url, seen } = await scripted(uploaded);
    const { client } = playedClient(url);
    await client.upload(new Blob(['boat']));
    await client.upload(Buffer.from('boat'));
    const types = seen.map(({ headers }) => headers['content-type']);
    assert.deepEqual(types, ['application/octet-stream', 'application/octet-stream']);
  });
});

describe('iterators', () => {
  type List = {
    readonly path: string;
    readonly name: string;
    readonly all: (client: Client) => AsyncIterable<unknown>;
  };
  const lists: readonly List[] = [
    { path: '/api/v1/jobs/listTasks', name: 'tasks', all: (client) => client.tasks() },
    { path: '/api/v1/credits', name: 'entries', all: (client) => client.ledger() },
    { path: '/api/v1/callbacks', name: 'callbacks', all: (client) => client.callbacks() },
  ];
  for (const { path, name, all } of lists) {
    test(`over ${name} read every page once, also empty ones, and end after the last`, async () => {
      const { url, seen } = await scripted(
        answer(200, { [name]: [1, 2], nextCursor: 'a' }),
        answer(200, { [name]: [], nextCursor: 'b' }),
        answer(200, { [name]: [3], nextCursor: null }),
      );
      const items: unknown[] = [];
      for await (const item of all(playedClient(url).client)) items.push(item);
      assert.deepEqual(items, [1, 2, 3]);
      assert.deepEqual(
        seen.map((one) => one.path),
        ['', 'cursor=a&', 'cursor=b&'].map((cursor) => `${path}?${cursor}limit=100`),
      );
    });
  }

  test('read a page only when it is needed, with the query and page size of the caller', async () => {
    const { url, seen } = await scripted(answer(200, { tasks: [1, 2], nextCursor: 'a' }));
    for await (const task of playedClient(url).client.tasks({ state: 'fail', limit: 2, cursor: 'x' })) {
      assert.ok(task);
      if (seen.length === 2) break;
    }
    const paths = seen.map(({ path }) => path.split('?')[1]);
    assert.deepEqual(paths, ['state=fail&limit=2&cursor=x', 'state=fail&limit=2&cursor=a']);
  });
});

describe('the options of a call', () => {
  test('may be no time limit', async () => {
    const slow: Step = (response, seen) => void setTimeout(() => created(response, seen), 50);
    const { url } = await scripted(slow);
    const { client } = playedClient(url, { timeoutMs: Infinity });
    assert.equal((await client.createTask(request)).taskId, 't1');
  });

  test('override those of the client: attempts, time limit and hooks', async () => {
    const dead = await scripted(hangUp);
    const { client } = playedClient(dead.url, { maxTries: 4, onRetry: () => assert.fail('overridden') });
    const retried: string[] = [];
    await errorOf(client.models({ maxTries: 2, onRetry: ({ error }) => retried.push(error.kind) }));
    assert.deepEqual([dead.seen.length, retried], [2, ['unreachable']]);
    const silent = await scripted(silence);
    const error = await errorOf(playedClient(silent.url).client.models({ timeoutMs: 300, maxTries: 1 }));
    assert.match(error.message, /no answer within 0\.3 s/);
  });

  test('name the request id of every success, once and after its retries; an error in the hook repeats nothing', async () => {
    const { url, seen } = await scripted(hangUp, created, answer(404), answer(200, { models: [] }));
    const all: ResponseInfo[] = [];
    const { client } = playedClient(url, { onResponse: (response) => all.push(response) });
    await client.createTask(request);
    assert.equal((await errorOf(client.recordInfo('t2'))).requestId, 'r-1');
    assert.deepEqual(all, [{ path: '/api/v1/jobs/createTask', requestId: 'r-1' }]);
    const hook = new Error('from the hook');
    const call = client.models({
      onResponse: () => {
        throw hook;
      },
    });
    await assert.rejects(call, (error) => error === hook);
    assert.equal(seen.length, 4);
  });

  test('let a create of a key, which has no idempotency key, be repeated only at the caller’s request', async () => {
    const { url, seen } = await scripted(hangUp);
    const { client } = playedClient(url);
    assert.equal((await errorOf(client.createKey({ name: 'robot' }))).kind, 'unreachable');
    assert.equal(seen.length, 1);
    await errorOf(client.createKey({ name: 'robot' }, { maxTries: 2 }));
    assert.equal(seen.length, 3);
  });
});
