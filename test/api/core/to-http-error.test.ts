import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountClosedError } from '../../../src/accounts/accounts.ts';
import { PasswordsBusyError } from '../../../src/accounts/sign-in/passwords.ts';
import { SignInProofOutdatedError } from '../../../src/accounts/sign-in/sign-in.ts';
import type { ErrorCode } from '../../../src/api/core/error-catalogue.ts';
import { HttpError } from '../../../src/api/core/http-error.ts';
import { replaceIfDiskIsFull, isRefusal, toHttpError } from '../../../src/api/core/to-http-error.ts';
import { PaymentsUnavailableError } from '../../../src/credits/payments/payment-provider.ts';
import { TooManyTagsError } from '../../../src/library/gallery/favorites-and-tags.ts';
import { StoreUnavailableError } from '../../../src/media/store/result-store.ts';
import { DatabaseBusyError, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';

const failed = (code: string) => Object.assign(new Error(code), { code });
const systemError = (code: string) => Object.assign(failed(code), { syscall: 'write' });
const [unreachable, full, readOnly] = [failed('ECONNREFUSED'), failed('53100'), failed('25006')];
const [noSpace, noFile, bug] = [systemError('ENOSPC'), systemError('ENOENT'), new TypeError('a bug')];
const notOfTheSystem = failed('ENOSPC');
const [payments, store] = [new PaymentsUnavailableError('no answer'), new StoreUnavailableError('no answer')];

/** The error of ours, the code that a client reads, and what the log names as its cause. */
const answers: readonly (readonly [error: unknown, code: ErrorCode, cause: unknown])[] = [
  [new HttpError('task_not_found', { cause: bug }), 'task_not_found', bug],
  [new PasswordsBusyError(), 'too_many_sign_ins', undefined],
  [new SignInProofOutdatedError(), 'sign_in_failed', undefined],
  [new AccountClosedError('one'), 'account_closed', undefined],
  [new TooManyTagsError('too many', 7), 'too_many_tags', undefined],
  [new DatabaseBusyError(), 'database_busy', undefined],
  [new DatabaseUnavailableError(false, unreachable), 'database_unavailable', unreachable],
  [new DatabaseUnavailableError(false, readOnly), 'database_unavailable', readOnly],
  [new DatabaseUnavailableError(false, full), 'disk_full', full],
  [payments, 'payments_unavailable', payments],
  [store, 'media_unavailable', store],
  [noSpace, 'disk_full', noSpace],
  [noFile, 'internal', noFile],
  // Only an error of the system is one of the disk.
  [notOfTheSystem, 'internal', notOfTheSystem],
  [bug, 'internal', bug],
  ['text', 'internal', 'text'],
];

test('each error of ours has its code for clients, and its cause for the log', () => {
  for (const [error, code, cause] of answers) {
    const answer = toHttpError(error);
    assert.equal(answer.code, code, String(error));
    assert.equal(answer.cause, cause, String(error));
  }
});

test('the message says what a client can do', () => {
  const messageFor = (error: unknown) => toHttpError(error).envelope.msg;
  assert.match(messageFor(new SignInProofOutdatedError()), /sign in again/);
  assert.match(messageFor(new AccountClosedError('one')), /account one is closed/);
  assert.match(messageFor(new DatabaseUnavailableError(false, readOnly)), /read-only; nothing was charged/);
  assert.doesNotMatch(messageFor(new DatabaseUnavailableError(false, unreachable)), /read-only/);
  assert.deepEqual(toHttpError(new TooManyTagsError('too many', 7)).envelope.data, { limit: 7 });
  assert.equal(messageFor(new TooManyTagsError('too many', 7)), 'too many');
});

test('a full disk is named instead of what it has broken, and nothing else is', () => {
  const codeOf = (error: unknown, problem: string | undefined) => replaceIfDiskIsFull(toHttpError(error), problem).code;
  assert.equal(codeOf(new DatabaseUnavailableError(false, unreachable), 'the disk is full'), 'disk_full');
  assert.equal(codeOf(store, 'the disk is full'), 'disk_full');
  assert.equal(codeOf(store, undefined), 'media_unavailable');
  assert.equal(codeOf(bug, 'the disk is full'), 'internal');
  assert.equal(codeOf(new DatabaseBusyError(), 'the disk is full'), 'database_busy');
  assert.equal(replaceIfDiskIsFull(toHttpError(store), 'the disk is full').cause, store);
});

test('a refusal is an answer below 500', () => {
  assert.equal(isRefusal(new HttpError('task_not_found')), true);
  assert.equal(isRefusal(new PasswordsBusyError()), true);
  assert.equal(isRefusal(new DatabaseBusyError()), false);
  assert.equal(isRefusal(bug), false);
});
