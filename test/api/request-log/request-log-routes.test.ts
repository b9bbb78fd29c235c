import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ordinaryScopes, type Scope, scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createRequestLog, type RequestLog } from '../../../src/library/request-log/request-log-buffer.ts';
import { createTestDatabase } from '../../support/database/test-database.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { newPerson, type Person } from '../../support/service/person.ts';
import { waitFor } from '../../support/wait-for.ts';

let service: HttpService;
let log: RequestLog;
let accountId: string;
let key: string;
let owner: Person;
before(async () => {
  const database = await createTestDatabase();
  log = createRequestLog({
    db: database.db,
    log: { warn: () => undefined },
    events: { emit: () => {} },
    delayMs: 3_600_000,
  });
  service = await startHttpService({ database, requestLog: log });
  ({ accountId, key } = await service.newAccount(100_000, ordinaryScopes));
  owner = await newPerson(service, { roles: { [accountId]: 'owner' } });
});
after(async () => {
  await service.close();
  await service.database.close();
});

type Row = {
  readonly requestId: string;
  readonly method: string;
  readonly endpoint: string;
  readonly tool: string | null;
  readonly status: number;
  readonly error: string | null;
  readonly taskId: string | null;
  readonly createdBy: { readonly kind: string; readonly name: string };
};

/** As the owner reads them in the console, which is no request of the log. */
async function logged(query = ''): Promise<readonly Row[]> {
  await log.drain();
  const { status, json } = await owner.ask('GET', `/api/v1/requests?limit=100${query}`, { accountId });
  assert.equal(status, 200, json.msg);
  // The service validates its responses against their schema in tests.
  return json.data['requests'] as readonly Row[];
}

/** A response may arrive before the end of its request is noticed. */
async function loggedRequest(requestId: unknown): Promise<Row> {
  const row = await waitFor('a logged request', async () => (await logged(`&requestId=${String(requestId)}`))[0]);
  return row;
}

async function newKey(name: string, of: readonly Scope[]) {
  const made = await createKeyUnchecked(service.database.db, { accountId, name, scopes: of });
  assert.ok(made);
  return made;
}

const bearer = (of = key) => ({ authorization: `Bearer ${of}` });

test('a create and its refusals are logged with the key, the status, the error code and the task', async () => {
  const created = await service.create(key, plainRequest);
  const row = await loggedRequest(created.headers['x-request-id']);
  assert.deepEqual(
    [row.method, row.endpoint, row.status, row.error, row.taskId, row.createdBy.kind],
    ['POST', '/api/v1/jobs/createTask', 200, null, created.json.data['taskId'], 'key'],
  );
  const refused = await service.create(key, { ...plainRequest, model: 'secret-model' });
  const refusal = await loggedRequest(refused.headers['x-request-id']);
  assert.deepEqual([refusal.status, refusal.error, refusal.taskId], [422, 'invalid_request', null]);
  const reader = await newKey('reader', ['tasks:read']);
  const scope = await loggedRequest((await service.create(reader.key, plainRequest)).headers['x-request-id']);
  assert.deepEqual([scope.status, scope.error, scope.createdBy.name], [403, 'scope_missing', 'reader']);
  assert.doesNotMatch(JSON.stringify(await logged()), /secret-model/);
});

test('requests of other APIs and of MCP are logged, without ids in paths and without queries', async () => {
  const missing = '00000000-0000-4000-8000-000000000000';
  const shape = await service.send('GET', `/v1/videos/${missing}`, { headers: bearer() });
  const row = await loggedRequest(shape.headers['x-request-id']);
  assert.deepEqual([row.endpoint, row.status, row.error], ['/v1/videos/{id}', 404, 'task_not_found']);
  const headers = { ...bearer(), 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = { name: 'get_video', arguments: { taskId: missing } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const mcp = await service.send('POST', '/mcp', { headers, body });
  const tool = await loggedRequest(mcp.headers['x-request-id']);
  assert.deepEqual([tool.endpoint, tool.tool, tool.status, tool.error], ['/mcp', 'get_video', 200, 'task_not_found']);
  await loggedRequest((await service.recordInfo(key, missing)).headers['x-request-id']);
  assert.doesNotMatch(JSON.stringify(await logged()), new RegExp(missing));
});

test('changes by people are logged with their name, and neither their reads nor requests without a valid key', async () => {
  const earlier = (await logged()).length;
  await service.create('vg_invalid', plainRequest);
  await service.send('GET', '/healthz');
  await owner.ask('GET', '/api/v1/credits', { accountId });
  const quoted = await owner.ask('POST', '/api/v1/callbacks/redeliver-failed', { accountId, body: { since: 0 } });
  const row = await loggedRequest(quoted.headers['x-request-id']);
  assert.equal(row.createdBy.kind, 'person');
  assert.equal((await logged()).length, earlier + 1);
});

test('the log is filtered by status, key, part of the endpoint, error code and request id, and read page by page', async () => {
  const other = await service.newAccount(1_000, scopes);
  const refused = await service.create(other.key, { model: 'none' });
  await service.send('GET', '/api/v1/credits', { headers: bearer(other.key) });
  await loggedRequest((await service.create(key, plainRequest)).headers['x-request-id']);
  const { key: second, keyId } = await newKey('second', scopes);
  await loggedRequest((await service.create(second, { model: 'none' })).headers['x-request-id']);

  const all = await logged();
  const expect = async (query: string, fits: (row: Row) => boolean) => {
    const rows = await logged(query);
    assert.ok(rows.length > 0, query);
    assert.deepEqual(rows, all.filter(fits), query);
  };
  await expect('&status=4xx', ({ status }) => status >= 400);
  await expect('&status=2xx', ({ status }) => status < 300);
  for (const status of ['3xx', '5xx']) assert.deepEqual(await logged(`&status=${status}`), [], status);
  await expect(`&keyId=${keyId}`, ({ createdBy }) => createdBy.name === 'second');
  await expect('&endpoint=CREATE', ({ endpoint }) => endpoint.endsWith('/createTask'));
  await expect('&endpoint=/API/v1/jobs', ({ endpoint }) => endpoint.startsWith('/api/v1/jobs'));
  await expect('&error=invalid_request', ({ error }) => error === 'invalid_request');
  assert.deepEqual(await logged(`&requestId=${String(refused.headers['x-request-id'])}`), [], 'of another account');
  assert.deepEqual(await logged('&requestId=none'), []);

  const pages: Row[] = [];
  let cursor: string | undefined;
  do {
    const query = `?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`;
    const { json } = await owner.ask('GET', `/api/v1/requests${query}`, { accountId });
    // As above.
    pages.push(...(json.data['requests'] as readonly Row[]));
    const { nextCursor } = json.data;
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
  } while (cursor !== undefined);
  assert.deepEqual(pages, all);
});

test('422 for a filter that is none of the values', async () => {
  for (const query of ['status=200', 'keyId=x', 'endpoint=', 'unknown=1']) {
    const { status, json } = await service.send('GET', `/api/v1/requests?${query}`, { headers: bearer() });
    assert.deepEqual([status, json.error], [422, 'invalid_request'], query);
  }
});
