import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, DatabaseUnavailableError } from '../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { type Answer, assertRefused } from '../support/service/http-client.ts';
import { rawExchange } from '../support/proxies/raw-http.ts';
import { type HttpService, type LogLine, plainRequest, startHttpService } from '../support/service/http-service.ts';
import { waitFor } from '../support/wait-for.ts';

let database: TestDatabase;
let service: HttpService;
let account: { accountId: string; key: string };
/** What the service's next statement throws instead of running. */
let fault: Error | undefined;
let notReady: readonly string[] = [];
before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({
    database,
    db: faulty(database.db),
    readiness: () => Promise.resolve(notReady),
  });
  account = await service.newAccount(100_000);
});
after(async () => {
  await service.close();
  await database.close();
});

function faulty(db: Database): Database {
  return {
    ...db,
    run: (statement, values) => {
      const thrown = fault;
      fault = undefined;
      return thrown === undefined ? db.run(statement, values) : Promise.reject(thrown);
    },
  };
}

function authorized(): Record<string, string> {
  return { authorization: `Bearer ${account.key}` };
}

/** The log line of the request with this answer. */
function lineOf(answer: Answer, msg = 'request'): Promise<LogLine> {
  const requestId = answer.headers['x-request-id'];
  return waitFor(`the line "${msg}"`, () =>
    service.log.find((line) => line['requestId'] === requestId && line['msg'] === msg),
  );
}

for (const path of [
  '/nothing',
  '/api/v1/jobs',
  '/api/v1/jobs/createTask/',
  '/API/V1/jobs/createTask',
  '/api/v2/jobs/createTask',
  '/api/v1/jobs/create%54ask',
  '//api/v1/jobs/recordInfo',
  '/media',
  '/%',
  '/%ff',
  '*',
]) {
  test(`404 ${path} is no endpoint, whatever the method`, async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      assertRefused(
        await service.send(method, path, { headers: authorized() }),
        404,
        /^unknown endpoint[;,].*all endpoints: \/docs$/,
      );
    }
  });
}

for (const [method, path, meant] of [
  ['POST', '/createtask', 'POST /api/v1/jobs/createTask'],
  ['POST', '/createTask', 'POST /api/v1/jobs/createTask'],
  ['POST', '/api/v1/jobs/createTask/', 'POST /api/v1/jobs/createTask'],
  ['GET', '/api/v1/jobs/createtask', 'POST /api/v1/jobs/createTask'],
  ['POST', '//api/v1//jobs/createTask', 'POST /api/v1/jobs/createTask'],
  [
    'POST',
    '/api/v1/api/v1/jobs/createTask',
    'POST /api/v1/jobs/createTask; set the base URL of this client to http://media.test',
  ],
  ['POST', '/jobs/createTask', 'POST /api/v1/jobs/createTask; set the base URL of this client to http://media.test'],
  [
    'POST',
    '/api/v2/jobs/createTask',
    'POST /api/v1/jobs/createTask; set the base URL of this client to http://media.test',
  ],
  ['POST', '/api/v1/jobs/creatTask', 'POST /api/v1/jobs/createTask'],
  ['GET', '/api/v1/jobs/recordinfo?taskId=x', 'GET /api/v1/jobs/recordInfo'],
  ['POST', '/api/v1/keys/', 'POST /api/v1/keys'],
  ['GET', '/api/v1/credit', 'GET /api/v1/credits'],
  ['GET', '/api/admin/v1/api/admin/v1/accounts', 'GET /api/admin/v1/accounts'],
  ['GET', '/doc', 'GET /docs'],
  ['POST', '/api/v1/createTask', 'POST /api/v1/jobs/createTask'],
  ['GET', '/api/v1/models/', 'GET /api/v1/models'],
  ['GET', '/api/v1/price', 'POST /api/v1/jobs/price'],
] as const) {
  test(`404 ${method} ${path} is told that ${meant} was probably meant`, async () => {
    const answer = await service.send(method, path, { headers: authorized() });
    assertRefused(answer, 404, /^unknown endpoint; did you mean/);
    assert.equal(answer.json.msg, `unknown endpoint; did you mean ${meant}; all endpoints: /docs`);
  });
}

test('no hint leads a customer to the API of operators', async () => {
  for (const path of ['/v1/tasks', '/api/v1/tasks', '/accounts', '/api/v1/accounts', '/api/v1/providers']) {
    const { bytes } = await service.send('GET', path, { headers: authorized() });
    assert.match(bytes.toString(), /unknown endpoint/);
    assert.doesNotMatch(bytes.toString(), /admin/, path);
  }
});

for (const [method, path] of [
  ['POST', '/v2/video/generations'],
  ['POST', '/v2/predictions'],
  ['POST', '/v2/image_to_video'],
  ['POST', '/dream-machine/v1/generations'],
  ['POST', '/v2/chat/completions'],
] as const) {
  test(`404 ${method} ${path}, which other APIs have, names the endpoints that do this here`, async () => {
    const answer = await service.send(method, path, { headers: authorized() });
    assertRefused(answer, 404, /^unknown endpoint; POST \/api\/v1\/jobs\/createTask creates a video, /);
  });
}

for (const path of [
  '/wp-login.php',
  '/api',
  '/api/v1',
  '/api/v1/jobs',
  '/list',
  '/x',
  '/metric',
  `/${'a'.repeat(3_000)}`,
]) {
  test(`404 ${path.slice(0, 20)} is like no endpoint in particular, so none is named`, async () => {
    assertRefused(await service.send('GET', path), 404, /^unknown endpoint; all endpoints: \/docs$/);
  });
}

for (const [method, path, allow] of [
  ['GET', '/api/v1/jobs/createTask', 'OPTIONS, POST'],
  ['PUT', '/api/v1/jobs/createTask', 'OPTIONS, POST'],
  ['POST', '/api/v1/jobs/recordInfo', 'GET, HEAD, OPTIONS'],
  ['DELETE', '/healthz', 'GET, HEAD, OPTIONS'],
  ['POST', '/media/results/x/video.mp4', 'GET, HEAD, OPTIONS'],
  ['TRACE', '/healthz', 'GET, HEAD, OPTIONS'],
  ['PROPFIND', '/readyz', 'GET, HEAD, OPTIONS'],
] as const) {
  test(`405 ${method} ${path} tells which methods there are`, async () => {
    const answer = await service.send(method, path, { headers: authorized() });
    assertRefused(answer, 405, new RegExp(`^method ${method} not allowed; allowed: ${allow}$`));
    assert.equal(answer.headers.allow, allow);
  });
}

test('405 HEAD of an endpoint that only takes POST has no body', async () => {
  const answer = await service.send('HEAD', '/api/v1/jobs/createTask', { headers: authorized() });
  assert.deepEqual([answer.status, answer.headers.allow, answer.bytes.length], [405, 'OPTIONS, POST', 0]);
});

test('CONNECT closes the connection: this is no proxy', async () => {
  assert.equal(await rawExchange(service.server.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'), '');
});

test('200 OPTIONS of an endpoint tells its methods', async () => {
  const answer = await service.send('OPTIONS', '/api/v1/jobs/createTask');
  assert.deepEqual([answer.status, answer.headers.allow], [200, 'OPTIONS, POST']);
  assert.deepEqual(answer.json, { code: 200, msg: 'success', data: {} });
});

test('200 healthz answers without a key and without the database', async () => {
  fault = new DatabaseUnavailableError(true, new Error('unreachable'));
  assert.deepEqual((await service.send('GET', '/healthz')).json, { code: 200, msg: 'success', data: {} });
  assert.ok(fault !== undefined, 'the database was not asked');
  fault = undefined;
});

test('200 readyz while there is no reason against it, 503 with the reasons otherwise', async () => {
  assert.deepEqual((await service.send('GET', '/readyz')).json.data, {});
  notReady = ['database is read-only'];
  const refused = await service.send('GET', '/readyz');
  notReady = [];
  assertRefused(refused, 503, /not ready/, { reasons: ['database is read-only'] });
  assert.match(String(refused.headers['retry-after']), /^\d+$/);
});

test('414 an address that is too long', async () => {
  assertRefused(await service.send('GET', `/healthz?${'a'.repeat(8192)}`), 414, /longer than 8192/);
});

test('500 a crash is answered blandly; the request id leads to its line in the log', async () => {
  fault = new TypeError('secret detail of our own');
  const answer = await service.send('GET', '/api/v1/jobs/recordInfo?taskId=x', { headers: authorized() });
  assertRefused(answer, 500, /^internal error; give the X-Request-Id to the operator$/);
  const line = await lineOf(answer, 'request crashed');
  assert.match(JSON.stringify(line['error']), /secret detail of our own.*app\.test\./);
});

test('500 an error that carries a status of its own is a crash all the same', async () => {
  fault = Object.assign(new Error('from a library'), {
    status: 404,
    statusCode: 404,
    expose: true,
    headers: { 'x-leak': 'y' },
  });
  const answer = await service.send('GET', '/api/v1/jobs/recordInfo?taskId=x', { headers: authorized() });
  assertRefused(answer, 500, /internal error/);
  assert.equal(answer.headers['x-leak'], undefined);
});

test('500 the failing row that PostgreSQL quotes does not reach the log', async () => {
  fault = Object.assign(new Error('violates check constraint'), {
    code: '23514',
    detail: 'Failing row contains (my prompt)',
  });
  const answer = await service.send('GET', '/api/v1/jobs/recordInfo?taskId=x', { headers: authorized() });
  const line = await lineOf(answer, 'request crashed');
  assert.match(JSON.stringify(line), /23514/);
  assert.doesNotMatch(JSON.stringify(line), /my prompt/);
});

test('503 when the database is unavailable before anything was charged, the answer says so and when to come back', async () => {
  fault = new DatabaseUnavailableError(true, new Error('ECONNREFUSED'));
  const answer = await service.create(account.key, plainRequest);
  assertRefused(answer, 503, /nothing was charged/);
  assert.match(String(answer.headers['retry-after']), /^\d+$/);
});

test('every request gets an id of our own, never the one it brought', async () => {
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { headers } = await service.send('GET', '/healthz', { headers: { 'x-request-id': 'mine' } });
      return headers['x-request-id'];
    }),
  );
  assert.equal(new Set(ids).size, 20);
  assert.ok(!ids.includes('mine'));
});

test('the log has one line per request, with id, method, path, status, duration and account', async () => {
  const answer = await service.send('GET', '/api/v1/jobs/recordInfo?taskId=x', {
    headers: { ...authorized(), 'x-request-id': 'client-7' },
  });
  const { time: _time, durationMs, pid: _pid, hostname: _hostname, level: _level, ...line } = await lineOf(answer);
  assert.equal(typeof durationMs, 'number');
  assert.deepEqual(line, {
    requestId: answer.headers['x-request-id'],
    method: 'GET',
    path: '/api/v1/jobs/recordInfo',
    status: 404,
    errorCode: 'task_not_found',
    accountId: account.accountId,
    clientRequestId: 'client-7',
    msg: 'request',
  });
  const lines = service.log.filter((other) => other['requestId'] === line.requestId);
  assert.equal(lines.length, 1);
});

test("a client's request id that is long or not plain is not logged", async () => {
  for (const id of ['x'.repeat(129), 'a b', 'ä', '{"a":\t1}']) {
    const answer = await service.send('GET', '/healthz', {
      headers: { 'x-request-id': Buffer.from(id).toString('latin1') },
    });
    assert.ok(!('clientRequestId' in (await lineOf(answer))), id);
  }
});

test('keys, bodies, queries and signatures stay out of the log', async () => {
  const prompt = 'a very private prompt';
  const created = await service.create(
    account.key,
    { ...plainRequest, input: { prompt } },
    { 'idempotency-key': 'private-key' },
  );
  await lineOf(created);
  await lineOf(await service.create(account.key, `{"prompt": ${prompt}`));
  await lineOf(await service.create(account.key, { [prompt]: 1 }));
  await lineOf(await service.send('GET', '/media/results/x/video.mp4?expires=1&signature=verysecret'));
  await lineOf(await service.send('GET', `/api/v1/jobs/recordInfo?taskId=${account.key}`, { headers: authorized() }));
  const log = JSON.stringify(service.log);
  for (const secret of [account.key, prompt, 'private-key', 'verysecret', 'signature', 'expires']) {
    assert.ok(!log.includes(secret), secret);
  }
});

test('HSTS is sent with every answer where PUBLIC_URL is https, and only there', async () => {
  const own = await startHttpService({ database, publicUrl: 'https://video.example.com' });
  try {
    for (const path of ['/healthz', '/nothing', '/api/v1/credits'])
      assert.equal((await own.send('GET', path)).headers['strict-transport-security'], 'max-age=31536000', path);
  } finally {
    await own.close();
  }
  assert.equal((await service.send('GET', '/healthz')).headers['strict-transport-security'], undefined);
});

test('422 a name with bidirectional control characters, which would show it in another order', async () => {
  const { key } = await service.newAccount(1_000, ['keys:write', 'tasks:read']);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (const name of ['exe\u202Egpj', 'a\u2066b', 'a\u200Fb']) {
    const body = JSON.stringify({ name, scopes: ['tasks:read'] });
    assert.equal((await service.send('POST', '/api/v1/keys', { headers, body })).status, 422, JSON.stringify(name));
  }
});
