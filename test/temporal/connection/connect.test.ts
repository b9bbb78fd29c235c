import { ServiceError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNotFound, isUnavailable } from '../../../src/temporal/connection/connect.ts';

/** All codes of gRPC. Of those from which a repeated call recovers, Temporal uses these three. */
const codes = Array.from({ length: 17 }, (_, code) => code);
const unavailable = [4, 8, 14];
const notFound = 5;

for (const [what, wrapped] of [
  ['of gRPC', (cause: Error) => cause],
  ['of the client', (cause: Error) => new ServiceError('Failed to start Workflow', { cause })],
] as const) {
  test(`an error ${what} is an outage by its code: deadline, exhausted resources, unavailable; and no other`, () => {
    const errors = codes.map((code) =>
      wrapped(Object.assign(new Error(`code ${code}`), { code, details: '', metadata: {} })),
    );
    assert.deepEqual(
      codes.filter((code) => isUnavailable(errors[code])),
      unavailable,
    );
    assert.deepEqual(
      codes.filter((code) => isNotFound(errors[code])),
      [notFound],
    );
  });
}

test('any other error is neither an outage nor a missing workflow', () => {
  for (const error of [new Error('14 UNAVAILABLE'), { code: 14 }, undefined, new ServiceError('no cause')])
    assert.deepEqual([isUnavailable(error), isNotFound(error)], [false, false]);
});
