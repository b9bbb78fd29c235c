import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type HttpExchange, refuseConnection } from '../../../../src/api/core/server/refuse-connection.ts';

const failed = (code?: string) => Object.assign(new Error('failed'), code === undefined ? {} : { code });

type Given = { readonly isOver?: boolean; readonly isRead?: boolean; readonly hasBegun?: boolean };

/** The last exchange of a connection, whose response has the id `own`. */
function exchange({ isOver = false, isRead = true, hasBegun = false }: Given): HttpExchange {
  const res = Object.assign(new EventEmitter(), { headersSent: hasBegun, getHeader: () => 'own' });
  // The parts of an exchange that the function reads.
  return { req: { complete: isRead }, res, isOver } as unknown as HttpExchange;
}

/** What a client reads of a refusal. */
function answerOf(socket: PassThrough) {
  const text = String(socket.read() ?? '');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => [line.split(': ')[0] ?? '', line.split(': ')[1]] as const));
  return { status, headers, body };
}

for (const [code, status, errorCode] of [
  [undefined, '400 Bad Request', 'malformed_request'],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'malformed_request'],
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', 'headers_too_large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large', 'body_too_large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'request_timeout'],
] as const) {
  test(`${status} the refusal of an error ${code} is a whole response`, () => {
    const socket = new PassThrough();
    const refused = refuseConnection(failed(code), socket, undefined);
    const { requestId = '' } = refused ?? {};
    assert.deepEqual(refused, { errorCode, requestId });
    assert.match(requestId, /^[\da-f-]{36}$/);
    const answer = answerOf(socket);
    assert.equal(answer.status, `HTTP/1.1 ${status}`);
    assert.deepEqual(answer.headers, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': requestId,
      'Content-Length': String(Buffer.byteLength(answer.body)),
      Connection: 'close',
    });
    assert.equal((JSON.parse(answer.body) as { readonly error: string }).error, errorCode);
    socket.destroy();
  });
}

test('a client that has disconnected gets nothing', () => {
  for (const code of ['ECONNRESET', 'EPIPE']) {
    const socket = new PassThrough();
    assert.equal(refuseConnection(failed(code), socket, undefined), undefined);
    assert.deepEqual([socket.destroyed, answerOf(socket).status], [true, '']);
  }
  const ended = new PassThrough().end();
  assert.equal(refuseConnection(failed(), ended, undefined), undefined);
  assert.equal(ended.destroyed, true);
});

test('the response of a valid request before the error comes first', () => {
  const socket = new PassThrough();
  const last = exchange({});
  assert.deepEqual(refuseConnection(failed(), socket, last), { errorCode: 'malformed_request' });
  assert.deepEqual([socket.destroyed, answerOf(socket).status], [false, '']);
  last.res.emit('close');
  assert.equal(socket.destroyed, true);
});

test('an error in the body of a request is its response, under its id, unless that has begun', () => {
  const socket = new PassThrough();
  const refused = refuseConnection(failed(), socket, exchange({ isRead: false }));
  assert.deepEqual(refused, { errorCode: 'malformed_request', requestId: 'own' });
  assert.equal(answerOf(socket).headers['X-Request-Id'], 'own');
  socket.destroy();
  const begun = new PassThrough();
  const cut = refuseConnection(failed(), begun, exchange({ isRead: false, hasBegun: true }));
  assert.deepEqual(cut, { errorCode: 'malformed_request' });
  assert.deepEqual([begun.destroyed, answerOf(begun).status], [true, '']);
});

test('an error after a finished exchange has an id of its own', () => {
  const socket = new PassThrough();
  const refused = refuseConnection(failed(), socket, exchange({ isOver: true, hasBegun: true }));
  assert.match(String(refused?.requestId), /^[\da-f-]{36}$/);
  assert.equal(answerOf(socket).status, 'HTTP/1.1 400 Bad Request');
  socket.destroy();
});

test('a refused client may send for a second', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const socket = new PassThrough();
  refuseConnection(failed(), socket, undefined);
  t.mock.timers.tick(999);
  assert.equal(socket.destroyed, false);
  t.mock.timers.tick(1);
  assert.equal(socket.destroyed, true);
});
