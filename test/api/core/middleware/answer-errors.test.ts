import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from 'pino';
import { HttpError } from '../../../../src/api/core/http-error.ts';
import { answerErrors } from '../../../../src/api/core/middleware/answer-errors.ts';
import type { Context } from '../../../../src/api/core/request-context-and-responses.ts';
import { StoreUnavailableError } from '../../../../src/media/store/result-store.ts';

type Given = { readonly path?: string; readonly headerSent?: boolean; readonly diskProblem?: string };

/** What is answered and logged when the handler fails with this error, after it has set headers of its own. */
async function answerOf(thrown: unknown, { path = '/api/v1/x', headerSent = false, diskProblem }: Given = {}) {
  const headers: Record<string, string> = { 'x-request-id': 'request', etag: '"own"' };
  const lines: unknown[] = [];
  let destroyed = 0;
  const res = {
    shouldKeepAlive: true,
    getHeaderNames: () => Object.keys(headers),
    destroy: () => void (destroyed += 1),
  };
  const ctx = {
    path,
    headerSent,
    res,
    req: { complete: true },
    state: { requestId: 'request' },
    respond: false,
    status: 404,
    body: '',
    set: (more: object) => {
      for (const [name, value] of Object.entries(more)) headers[name.toLowerCase()] = String(value);
    },
    remove: (name: string) => void delete headers[name],
  };
  const note = (level: string) => (line: object, msg: string) => void lines.push([level, msg, line]);
  // The levels that the middleware uses.
  const log = { error: note('error'), warn: note('warn') } as unknown as Logger;
  // The parts of a context that the middleware reads.
  await answerErrors(log, () => diskProblem)(ctx as unknown as Context, () => Promise.reject(thrown));
  return { ...ctx, headers, lines, destroyed };
}

test('a failure is answered instead of what the handler had set, and noted for the log of requests', async () => {
  const error = new HttpError('too_many_keys', { data: { limit: 7 }, headers: { 'Retry-After': '5' } });
  const { status, body, headers, state, respond, destroyed, lines } = await answerOf(error);
  assert.deepEqual([status, respond, destroyed, lines], [409, true, 0, []]);
  assert.deepEqual(JSON.parse(body), error.envelope);
  assert.deepEqual(headers, {
    'x-request-id': 'request',
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'retry-after': '5',
  });
  assert.deepEqual(state, { requestId: 'request', errorCode: 'too_many_keys' });
});

test('a failure after the response has begun breaks the connection, and is noted all the same', async () => {
  const { status, body, headers, state, destroyed } = await answerOf(new HttpError('internal'), { headerSent: true });
  assert.deepEqual([status, body, destroyed], [404, '', 1]);
  assert.deepEqual(headers, { 'x-request-id': 'request', etag: '"own"' });
  assert.deepEqual(state, { requestId: 'request', errorCode: 'internal' });
});

test('a crash is an error in the log, a failure with a cause a warning, and a refusal is in neither', async () => {
  const cause = new TypeError('a bug');
  const error = { type: 'TypeError', message: 'a bug', stack: cause.stack };
  const linesOf = async (thrown: unknown, given?: Given) => (await answerOf(thrown, given)).lines;
  assert.deepEqual(await linesOf(cause), [['error', 'request crashed', { requestId: 'request', error }]]);
  const failed = { requestId: 'request', errorCode: 'task_not_found', error };
  assert.deepEqual(await linesOf(new HttpError('task_not_found', { cause })), [['warn', 'request failed', failed]]);
  assert.deepEqual(await linesOf(new HttpError('task_not_found')), []);
  const full = await answerOf(new StoreUnavailableError('lost'), { diskProblem: 'full' });
  assert.deepEqual([full.state, full.status], [{ requestId: 'request', errorCode: 'disk_full' }, 503]);
});

test('a path of another API is answered in its spelling', async () => {
  const { status, body } = await answerOf(new HttpError('task_not_found'), { path: '/v1/videos/x' });
  const parsed = JSON.parse(body) as { readonly error: { readonly code: string } };
  assert.deepEqual([status, parsed.error.code], [404, 'task_not_found']);
});
