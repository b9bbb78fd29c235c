import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutboundError, type OutboundErrorKind } from '../../../src/platform/outbound/outbound-error.ts';

/** Every kind, and whether its request may have left. */
const kinds: Readonly<Record<OutboundErrorKind, boolean>> = {
  blocked: false,
  dns: false,
  connect: false,
  tls: false,
  timeout: false,
  busy: false,
  aborted: false,
  closed: true,
  protocol: true,
  redirect: true,
  too_large: true,
  encoding: true,
};

test('every kind has the same message for clients, but for an answer that was too large, and the request left or not', () => {
  for (const [kind, wasSent] of Object.entries(kinds) as [OutboundErrorKind, boolean][]) {
    const cause = new Error('refused');
    const error = new OutboundError(kind, 'host.test refused', cause);
    const message =
      kind === 'too_large' ? 'The answer of the address was too large.' : 'The address could not be reached.';
    assert.deepEqual(
      { message: error.message, kind: error.kind, detail: error.detail, wasSent: error.wasSent },
      { message, kind, detail: 'host.test refused', wasSent },
    );
    assert.deepEqual([error.cause, error.isPublic], [cause, false]);
    assert.equal(new OutboundError(kind, '', undefined, !wasSent).wasSent, !wasSent);
  }
});
