import { type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test, type TestContext } from 'node:test';
import type { Logger } from 'pino';
import {
  logAndMeasureRequests,
  type RequestFinishedEvent,
  traceRequests,
} from '../../../../src/api/core/middleware/observe-requests.ts';
import type { Context, RequestState } from '../../../../src/api/core/request-context-and-responses.ts';
import { type FinishedRequest, maxEndpointLength } from '../../../../src/library/request-log/request-log-rows.ts';

type Given = {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  /** False if the client disconnected before the response began. */
  readonly isBegun?: boolean;
  /** False if the client disconnected during the response. */
  readonly isFinished?: boolean;
  readonly matched?: string | RegExp;
  readonly state?: Partial<RequestState>;
  readonly clientId?: string;
};

const noted = () => Promise.resolve();

/** A request, and the end of its response. */
function requestOf({ method = 'GET', path = '/x', status = 200, isBegun = true, ...given }: Given) {
  const { isFinished = true, matched, state = {}, clientId = '' } = given;
  const set: Record<string, string> = {};
  const res = Object.assign(new EventEmitter(), {
    statusCode: status,
    headersSent: isBegun,
    writableFinished: isFinished,
  });
  const ctx = {
    method,
    path,
    res,
    headers: {},
    protocol: 'https',
    state: { ...state },
    _matchedRoute: matched,
    get: () => clientId,
    set: (headers: object) => void Object.assign(set, headers),
  };
  // The parts of a context that the middleware reads.
  return { ctx: ctx as unknown as Context, end: () => void res.emit('close'), set };
}

/** What is noted of a request that takes 1,234.5 ms and ends at 5,000. */
async function observed(t: TestContext, given: Given) {
  const mocked = t.mock.method(performance, 'now', () => 1_000);
  t.mock.timers.enable({ apis: ['Date'], now: 5_000 });
  const lines: unknown[] = [];
  const ofAccounts: FinishedRequest[] = [];
  const events: RequestFinishedEvent[] = [];
  const note = (level: string) => (line: object, msg: string) => void lines.push([level, msg, line]);
  // The levels that the middleware uses.
  const log = { debug: note('debug'), info: note('info'), warn: note('warn') } as unknown as Logger;
  const { ctx, end, set } = requestOf(given);
  const requestLog = { add: (request: FinishedRequest) => void ofAccounts.push(request), drain: noted };
  const observe = logAndMeasureRequests(log, requestLog, { emit: (event) => void events.push(event) });
  await observe(ctx, noted);
  assert.deepEqual([lines, ofAccounts, events], [[], [], []], 'nothing before the end');
  mocked.mock.mockImplementation(() => 2_234.5);
  end();
  t.mock.timers.reset();
  mocked.mock.restore();
  const { requestId } = ctx.state;
  assert.match(requestId, /^[\da-f-]{36}$/);
  assert.deepEqual(set, { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' });
  return { lines, ofAccounts, events, requestId };
}

const ids = { accountId: 'account', keyId: 'key', userId: 'user', operatorId: 'operator' };
const absent = { tool: undefined, errorCode: undefined, accountId: undefined, operatorId: undefined };

test('a request has one line in the log, one in that of its account, and one event', async (t) => {
  const state = { ...ids, tool: 'get_video', errorCode: 'task_not_found', taskId: 'task' } as const;
  const given = {
    method: 'POST',
    path: '/v1/videos/1',
    status: 404,
    matched: '/v1/videos/:id',
    clientId: 'mine',
    state,
  };
  const { lines, ofAccounts, events, requestId } = await observed(t, given);
  const { accountId, keyId, userId, operatorId, tool, errorCode, taskId } = state;
  const line = { requestId, method: 'POST', path: '/v1/videos/1', tool, status: 404, errorCode, accountId, operatorId };
  assert.deepEqual(lines, [
    ['info', 'request', { ...line, userId, clientRequestId: 'mine', aborted: undefined, durationMs: 1_235 }],
  ]);
  const request = { requestId, accountId, keyId, userId, endedAt: 5_000, durationMs: 1_235, method: 'POST' };
  assert.deepEqual(ofAccounts, [{ ...request, endpoint: '/v1/videos/{id}', tool, status: 404, errorCode, taskId }]);
  const event = { kind: 'request_finished', route: '/v1/videos/:id', method: 'POST', status: '404' };
  assert.deepEqual(events, [{ ...event, durationSeconds: 1.2345 }]);
});

test('a client that disconnects is noted; one before the response has no status', async (t) => {
  const during = await observed(t, { isFinished: false });
  const line = { ...absent, method: 'GET', path: '/x', userId: undefined, clientRequestId: undefined, aborted: true };
  const { requestId } = during;
  assert.deepEqual(during.lines, [['info', 'request', { ...line, requestId, status: 200, durationMs: 1_235 }]]);
  assert.deepEqual(during.ofAccounts, []);
  const before = await observed(t, { isFinished: false, isBegun: false });
  assert.equal(before.events[0]?.status, 'aborted');
});

test('the level of a line is that of its status; probes are debugged', async (t) => {
  for (const [path, status, level] of [
    ['/x', 499, 'info'],
    ['/x', 500, 'warn'],
    ['/healthz', 200, 'debug'],
    ['/readyz', 200, 'debug'],
    ['/metrics', 200, 'debug'],
    ['/readyz', 503, 'warn'],
  ] as const) {
    const [line] = (await observed(t, { path, status })).lines;
    assert.equal((line as readonly unknown[])[0], level, `${path} ${status}`);
  }
});

test('a line has no secret of a share link, and no id of a client that is no plain text of 128 characters', async (t) => {
  const fieldOf = async (given: Given, name: string) => {
    const [line] = (await observed(t, given)).lines as [string, string, Record<string, unknown>][];
    return line?.[2][name];
  };
  assert.equal(await fieldOf({ path: '/s/secret' }, 'path'), '/s/…');
  for (const [clientId, logged] of [
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), undefined],
    ['a b', undefined],
    ['', undefined],
  ] as const)
    assert.equal(await fieldOf({ clientId }, 'clientRequestId'), logged);
});

test('an account reads all requests of its keys and the changes of its people, but those of the console itself', async (t) => {
  const [byKey, byPerson] = [
    { accountId: 'account', keyId: 'key' },
    { accountId: 'account', userId: 'user' },
  ];
  for (const [state, method, path, isRead] of [
    [byKey, 'GET', '/api/v1/x', true],
    [byKey, 'POST', '/api/v1/x', true],
    [byPerson, 'POST', '/api/v1/x', true],
    [byPerson, 'GET', '/api/v1/x', false],
    [byPerson, 'POST', '/api/console/v1/x', false],
    [{ userId: 'user' }, 'POST', '/api/v1/x', false],
    [{}, 'POST', '/api/v1/x', false],
  ] as const) {
    const { ofAccounts } = await observed(t, { state, method, path });
    assert.equal(ofAccounts.length, isRead ? 1 : 0, JSON.stringify([state, method, path]));
  }
  const long = `/${'x'.repeat(maxEndpointLength)}`;
  const [request] = (await observed(t, { state: byKey, matched: long })).ofAccounts;
  assert.equal(request?.endpoint, long.slice(0, maxEndpointLength));
});

test('a route is the pattern of its path, a method one of seven, and a held request has no duration', async (t) => {
  const eventOf = async (given: Given) => {
    const [event] = (await observed(t, given)).events;
    return [event?.route, event?.method, event?.durationSeconds];
  };
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])
    assert.deepEqual(await eventOf({ method }), ['(none)', method, 1.2345]);
  assert.deepEqual(await eventOf({ method: 'BREW' }), ['(none)', '(other)', 1.2345]);
  assert.deepEqual(await eventOf({ matched: /^\/media\/.*$/ }), ['/media/*', 'GET', 1.2345]);
  assert.deepEqual(await eventOf({ matched: '/a', state: { route: '/b' } }), ['/b', 'GET', 1.2345]);
  assert.deepEqual(await eventOf({ state: { isHeld: true } }), ['(none)', 'GET', undefined]);
});

/** What the span of a request notes; undefined without one. */
async function traced(t: TestContext, given: Given) {
  const spans: unknown[] = [];
  const span = {
    updateName(name: string): unknown {
      spans.push(['name', name]);
      return span;
    },
    setAttribute(name: string, value: unknown): unknown {
      spans.push([name, value]);
      return span;
    },
    setStatus: (status: unknown) => void spans.push(['status', status]),
    end: () => void spans.push('end'),
  };
  const startSpan = (name: string, options: object) => {
    spans.push([name, options]);
    return span as unknown as Span;
  };
  // The methods that the middleware calls.
  const tracing = t.mock.method(trace, 'getTracer', () => ({ startSpan }) as unknown as Tracer);
  const { ctx, end } = requestOf({ ...given, state: { requestId: 'request', ...given.state } });
  let handled = 0;
  await traceRequests(ctx, () => Promise.resolve(void (handled += 1)));
  assert.equal(handled, 1);
  end();
  tracing.mock.restore();
  return spans;
}

test('each request but probes has a span with its route, status, account and error', async (t) => {
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.deepEqual(await traced(t, { path }), []);
  const begun = (method: string) => [
    method,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'url.scheme': 'https' } },
  ];
  const id = ['videogen.request_id', 'request'];
  assert.deepEqual(await traced(t, { isBegun: false, status: 500 }), [begun('GET'), id, 'end']);
  assert.deepEqual(await traced(t, { status: 499 }), [begun('GET'), ['http.response.status_code', 499], id, 'end']);
  const state = { accountId: 'account', errorCode: 'internal' } as const;
  assert.deepEqual(await traced(t, { method: 'POST', status: 500, matched: '/a/:id', state }), [
    begun('POST'),
    ['name', 'POST /a/:id'],
    ['http.route', '/a/:id'],
    ['http.response.status_code', 500],
    ['videogen.account_id', 'account'],
    ['error.type', 'internal'],
    id,
    ['status', { code: SpanStatusCode.ERROR }],
    'end',
  ]);
});
