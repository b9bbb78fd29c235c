import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createClient, newIdempotencyKey } from '../../clients/typescript/src/index.ts';
import { answer, hangUp, playedClient, silence, type Step } from '../support/service/scripted-service.ts';
import { untilTurn } from '../support/until-turn.ts';
import { errorOf, limitMs, scriptedServices } from './scripted.ts';

const scripted = scriptedServices();

const request = { model: 'videogen-2.0-fast', input: { prompt: 'A lighthouse' } };
const created = { taskId: 't1', creditsCharged: 165 };

describe('what is repeated', () => {
  test('a create whose answer is lost is repeated with the same key and the same bytes', async () => {
    const { url, seen } = await scripted(hangUp, hangUp, answer(200, created));
    assert.deepEqual(await playedClient(url).client.createTask(request), created);
    assert.equal(seen.length, 3);
    assert.equal(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size, 1);
    assert.match(String(seen[0]?.headers['idempotency-key']), /^[0-9a-f]{32}$/);
    assert.equal(new Set(seen.map(({ body }) => body)).size, 1);
  });

  test('who waits hears of each try that is repeated, its reason and the pause before the next, and nothing once it works', async () => {
    const { url } = await scripted(hangUp, answer(503, {}, { 'retry-after': '9' }), answer(200, created));
    const heard: (readonly [string, number])[] = [];
    const { client, sleptMs } = playedClient(url, {
      onRetry: ({ error, pauseMs }) => heard.push([error.kind, pauseMs]),
    });
    await client.createTask(request);
    assert.deepEqual(heard, [
      ['unreachable', 500],
      ['refused', 9_000],
    ]);
    assert.deepEqual(sleptMs, [500, 9_000]);
  });

  test('two creates have two keys; a key of the caller is used as it is', async () => {
    const { url, seen } = await scripted(answer(200, created));
    const { client } = playedClient(url);
    await client.createTask(request);
    await client.createTask(request);
    await client.createTask(request, { idempotencyKey: 'order-7' });
    const keys = seen.map(({ headers }) => headers['idempotency-key']);
    assert.notEqual(keys[0], keys[1]);
    assert.equal(keys[2], 'order-7');
  });

  for (const code of [429, 502, 503, 504]) {
    test(`${code} is repeated, also when a proxy says it in HTML`, async () => {
      const html: Step = (response) => response.writeHead(code, { 'content-type': 'text/html' }).end('<h1>sorry</h1>');
      const { url, seen } = await scripted(answer(code), html, answer(200, { balance: 5 }));
      await playedClient(url).client.credits();
      assert.equal(seen.length, 3);
    });
  }

  for (const code of [400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 500]) {
    test(`${code} is final`, async () => {
      const { url, seen } = await scripted(answer(code), answer(200, created));
      const { client, sleptMs } = playedClient(url);
      const { kind, code: told } = await errorOf(client.createTask(request));
      assert.deepEqual([kind, told, seen.length, sleptMs.length], ['refused', code, 1, 0]);
    });
  }

  test('tries are bounded, pauses double, and the error carries the key to go on with', async () => {
    const { url, seen } = await scripted(hangUp);
    const { client, sleptMs } = playedClient(url);
    const error = await errorOf(client.createTask(request));
    assert.equal(seen.length, 6);
    assert.deepEqual(sleptMs, [500, 1000, 2000, 4000, 8000]);
    assert.equal(error.kind, 'unreachable');
    assert.ok(error.idempotencyKey !== undefined && error.idempotencyKey === seen[0]?.headers['idempotency-key']);
  });

  test('a service that is silent is unreachable when the time of a try is over', async (t) => {
    const { url, seen } = await scripted(silence);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const late = errorOf(playedClient(url, { timeoutMs: limitMs, maxTries: 2 }).client.models());
    for (const tries of [1, 2]) {
      await untilTurn('a try', () => seen.length === tries);
      t.mock.timers.tick(limitMs);
    }
    const error = await late;
    assert.deepEqual([error.kind, seen.length], ['unreachable', 2]);
    assert.match(error.message, /no answer within 1 s/);
  });

  test('an answer that stops half way counts as none', async () => {
    const half: Step = (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"code":200,');
      setImmediate(() => response.destroy());
    };
    const { url, seen } = await scripted(half, answer(200, created));
    assert.deepEqual(await playedClient(url).client.createTask(request), created);
    assert.equal(seen.length, 2);
  });
});

describe('Retry-After', () => {
  test('is obeyed, as seconds and as a date', async () => {
    const date = { 'retry-after': 'Sun, 01 Nov 2026 00:00:27 GMT' }; // 20 s after the played clock's start and first pause
    const { url } = await scripted(answer(429, {}, { 'retry-after': '7' }), answer(503, {}, date), answer(200));
    const { client, sleptMs } = playedClient(url);
    await client.models();
    assert.deepEqual(sleptMs, [7000, 20_000]);
  });

  test('does not shorten the growing pauses', async () => {
    const { url } = await scripted(answer(429, {}, { 'retry-after': '1' }));
    const { client, sleptMs } = playedClient(url);
    await errorOf(client.models());
    assert.deepEqual(sleptMs, [1000, 1000, 2000, 4000, 8000]);
  });

  test('of more than a minute is left to the caller', async () => {
    const { url, seen } = await scripted(answer(429, {}, { 'retry-after': '61' }));
    const error = await errorOf(playedClient(url).client.models());
    assert.deepEqual([error.retryAfterSeconds, error.isPassing, seen.length], [61, true, 1]);
  });
});

describe('errors', () => {
  test('carry code, message, field errors, data and request id', async () => {
    const errors = [{ path: 'input.prompt', message: 'is required' }];
    const { url } = await scripted(answer(422, { errors }));
    const error = await errorOf(playedClient(url).client.createTask(request));
    assert.equal(error.message, 'refused with 422');
    assert.deepEqual(error.errors, errors);
    assert.deepEqual([error.requestId, error.isPassing], ['r-1', false]);
    const poor = await scripted(answer(402, { required: 165, balance: 3 }));
    assert.deepEqual((await errorOf(playedClient(poor.url).client.createTask(request))).data, {
      required: 165,
      balance: 3,
    });
  });

  test('name what is not Videogen, a redirect among it, which is not followed', async () => {
    const page: Step = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>');
    const redirect: Step = (response) => response.writeHead(302, { location: '/elsewhere' }).end();
    const envelopeIn404: Step = (response) => response.writeHead(404).end('{"code":200,"msg":"success","data":{}}');
    for (const step of [page, redirect, envelopeIn404]) {
      const { url, seen } = await scripted(step);
      const { kind } = await errorOf(playedClient(url).client.createTask(request));
      assert.deepEqual([kind, seen.length], ['not_videogen', 1]);
    }
  });

  test('an abort is the caller’s own reason, in a call, in a pause and in a wait', async () => {
    const { url } = await scripted(silence);
    const stop = new Error('enough');
    for (const call of ['models', 'recordInfo', 'waitForTask', 'download'] as const) {
      const [controller, client] = [new AbortController(), createClient({ baseUrl: url, key: 'vg_test', maxTries: 1 })];
      const options = { signal: controller.signal };
      const running = call === 'models' ? client.models(options) : client[call]('t1', options);
      setImmediate(() => controller.abort(stop));
      await assert.rejects(running, (error) => error === stop);
    }
    const busy = await scripted(answer(429, {}, { 'retry-after': '30' }));
    const controller = new AbortController();
    const onRetry = () => void setImmediate(() => controller.abort(stop));
    const paused = createClient({ baseUrl: busy.url, key: 'vg_test', onRetry }).models({ signal: controller.signal });
    await assert.rejects(paused, (error) => error === stop);
  });

  test('what can never be right is a TypeError, and nothing is sent', async () => {
    const { url, seen } = await scripted(answer(200, created));
    const { client } = playedClient(url);
    for (const baseUrl of ['ftp://x', 'localhost:3000', 'http://', '']) {
      assert.throws(() => createClient({ baseUrl, key: 'k' }), /^TypeError: baseUrl must be/);
    }
    assert.throws(() => createClient({ baseUrl: url, key: 'vg_with a space' }), TypeError);
    assert.throws(() => client.createTask(request, { idempotencyKey: 'ключ' }), TypeError);
    // JSON would write null, which asks for the default length and would be charged.
    const input = { ...request.input, duration: Number('8s') };
    await assert.rejects(client.createTask({ ...request, input }), TypeError);
    assert.equal(seen.length, 0);
  });

  test('the key goes with every call, and fresh idempotency keys differ', async () => {
    const { url, seen } = await scripted(answer(200, { tasks: [], nextCursor: null }));
    await playedClient(`${url}//`).client.listTasks({ state: 'fail', limit: 3, cursor: undefined });
    assert.equal(seen[0]?.path, '/api/v1/jobs/listTasks?state=fail&limit=3');
    assert.equal(seen[0].headers.authorization, 'Bearer vg_test');
    assert.notEqual(newIdempotencyKey(), newIdempotencyKey());
  });
});
