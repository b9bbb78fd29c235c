import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callBucket,
  callBucketAllowingMissing,
  isRangeNotSatisfiable,
  setupErrorUnlessTemporary,
} from '../../../../src/media/store/s3/s3-client-and-errors.ts';
import type { BucketLocation } from '../../../../src/media/store/store-location.ts';

const location: BucketLocation = { kind: 'bucket', bucket: 'videos', prefix: '' };

/** An error as the SDK throws it: the name is the code of the store. */
function answered(code: string, httpStatusCode?: number): Error {
  return Object.assign(new Error('of the store'), { name: code, $metadata: { httpStatusCode } });
}

/** What operators have to correct, by the codes of Amazon S3, of other stores and of the SDK. */
const corrections: Readonly<Record<string, RegExp>> = {
  NoSuchBucket: /RESULT_STORE\.$/,
  InvalidAccessKeyId: /does not accept the credentials.*AWS_ACCESS_KEY_ID/,
  SignatureDoesNotMatch: /does not accept the credentials/,
  InvalidToken: /does not accept the credentials/,
  ExpiredToken: /does not accept the credentials/,
  TokenRefreshRequired: /does not accept the credentials/,
  CredentialsProviderError: /no credentials.*AWS_ACCESS_KEY_ID/,
  PermanentRedirect: /AWS_REGION/,
  AuthorizationHeaderMalformed: /AWS_REGION/,
  IllegalLocationConstraintException: /AWS_REGION/,
  AccessDenied: /s3:ListBucket/,
  Forbidden: /s3:ListBucket/,
  AllAccessDisabled: /s3:ListBucket/,
  RequestTimeTooSkewed: /clock/,
};

test('an error that an operator has to correct says what, also without a status', () => {
  for (const [code, expected] of Object.entries(corrections))
    assert.match(setupErrorUnlessTemporary(answered(code), location)?.message ?? '', expected, code);
});

test('outages, and statuses that pass, are no fault of the settings; any other refusal is', () => {
  for (const status of [408, 425, 429, 500, 503, undefined])
    assert.equal(setupErrorUnlessTemporary(answered('Any', status), location), undefined, String(status));
  for (const status of [400, 404, 409, 424, 426, 428, 430, 499])
    assert.match(
      setupErrorUnlessTemporary(answered('Any', status), location)?.message ?? '',
      /refuses the request: of the store/,
    );
});

test('the message has the store, the code and what to correct, also without a region', () => {
  const cause = answered('NoSuchBucket', 404);
  const { message, cause: kept } = setupErrorUnlessTemporary(cause, { ...location, prefix: 'a/' }) ?? assert.fail();
  const start = 'The result store s3://videos/a cannot be used (NoSuchBucket). ';
  assert.equal(message, `${start}The bucket does not exist. Create it, or correct RESULT_STORE.`);
  assert.equal(kept, cause);
  assert.match(
    setupErrorUnlessTemporary(new Error('Region is missing'), location)?.message ?? '',
    /Set AWS_REGION to the region of/,
  );
});

test('a range is not satisfiable by its code or by its status', () => {
  const errors = [answered('InvalidRange'), answered('Any', 416), answered('Any', 400), 'InvalidRange'];
  assert.deepEqual(errors.map(isRangeNotSatisfiable), [true, true, false, false]);
});

test('a request that fails says which one, and why; a missing file is no failure', async () => {
  const failing = (cause: unknown) => callBucketAllowingMissing(location, 'get', () => Promise.reject(cause));
  const failed = (cause: unknown, why: string) => {
    const message = `get failed in the result store s3://videos: ${why}`;
    return assert.rejects(failing(cause), { name: 'StoreUnavailableError', message, cause });
  };
  await failed(answered('Any', 503), 'of the store');
  await failed('a text', 'a text');
  const refusal = answered('Any', 404);
  await failed(refusal, setupErrorUnlessTemporary(refusal, location)?.message ?? '');
  assert.equal(await failing(answered('NoSuchKey', 404)), undefined);
  await assert.rejects(
    callBucket(location, 'check', () => failing(answered('Any'))),
    /check failed/,
  );
  assert.equal(await callBucket(location, 'check', () => Promise.resolve('done')), 'done');
});
