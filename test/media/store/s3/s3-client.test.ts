import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setupErrorOf } from '../../../../src/media/store/s3/s3-client.ts';
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
    assert.match(setupErrorOf(answered(code), location)?.message ?? '', expected, code);
});

test('outages, and statuses that pass, are no fault of the settings; any other refusal is', () => {
  for (const status of [408, 425, 429, 500, 503, undefined])
    assert.equal(setupErrorOf(answered('Any', status), location), undefined, String(status));
  for (const status of [400, 404, 409, 424, 426, 428, 430, 499])
    assert.match(setupErrorOf(answered('Any', status), location)?.message ?? '', /refuses the request: of the store/);
});
