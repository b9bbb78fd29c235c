import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createUser } from '../../../src/accounts/people/users.ts';
import { createPendingChallenge, consumePendingChallenge } from '../../../src/accounts/sign-in/pending-challenges.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('a proof is consumed once, in time, and only as the kind that it is', async () => {
  const { db } = database;
  const { userId } = await createUser(db, { email: 'a@example.com', passwordHash: undefined, isOperator: false });
  const begin = async () => {
    const token = await createPendingChallenge(db, {
      kind: 'passkey_registration',
      userId,
      details: { challenge: 'c' },
    });
    return token ?? assert.fail();
  };
  const [first, second] = [await begin(), await begin()];
  for (const kind of ['passkey_sign_in', 'oidc'] as const)
    assert.equal(await consumePendingChallenge(db, kind, first), undefined, kind);
  const details = { challenge: 'c' };
  assert.deepEqual(await consumePendingChallenge(db, 'passkey_registration', first), { userId, details });
  assert.equal(await consumePendingChallenge(db, 'passkey_registration', first), undefined, 'again');
  await db.run({ name: 'test-expire-proofs', text: 'update pending_proofs set expires_at = now()' });
  assert.equal(await consumePendingChallenge(db, 'passkey_registration', second), undefined, 'too late');
});
