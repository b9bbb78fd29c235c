import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, errorCatalogue } from '../../../src/api/core/error-catalogue.ts';
import { HttpError } from '../../../src/api/core/http-error.ts';

const codes = Object.keys(errorCatalogue) as ErrorCode[]; // The keys of the catalogue.
const headerOf = (code: ErrorCode, name: string) => new HttpError(code).headers[name];

test('every error of a service that is unavailable says when to retry', () => {
  const unavailable = codes.filter((code) => errorCatalogue[code].status === 503);
  assert.ok(unavailable.length > 10);
  for (const code of unavailable) assert.match(String(headerOf(code, 'Retry-After')), /^[1-9]\d*$/, code);
});

test('refusals by a limit that has no rate have a fixed time to retry', () => {
  const fixed = {
    too_many_unfinished_tasks: '10',
    too_many_sign_ins: '60',
    too_many_sign_ups: '3600',
    too_many_mails: '3600',
  };
  for (const [code, seconds] of Object.entries(fixed))
    assert.equal(headerOf(code as ErrorCode, 'Retry-After'), seconds); // The keys above.
});

test('clients that retry every error of a server do not retry an operation that is not offered', () => {
  assert.equal(headerOf('not_offered', 'X-Should-Retry'), 'false');
});

test('an error has the status, the message and the data of its cause, else those of the catalogue', () => {
  const cause = new Error('secret');
  const error = new HttpError('database_unavailable', { msg: 'read-only', data: { a: 1 }, headers: { B: '2' }, cause });
  assert.deepEqual(error.envelope, { code: 503, msg: 'read-only', error: 'database_unavailable', data: { a: 1 } });
  assert.equal(error.headers['B'], '2');
  assert.notEqual(error.headers['Retry-After'], undefined);
  assert.equal(error.cause, cause);
  const { envelope } = new HttpError('task_not_found');
  assert.deepEqual(envelope, { code: 404, msg: errorCatalogue.task_not_found.msg, error: 'task_not_found', data: {} });
});
