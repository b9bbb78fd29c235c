import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { countPasswordTry, markTrySucceeded } from '../../../src/accounts/sign-in/password-tries.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const email = 'ada@example.com';

type Tried = Readonly<Record<string, unknown>>;

async function addTries(db: StatementRunner, count: number, row: Tried = {}): Promise<void> {
  const tried = { email_hash: hash('sha256', email, 'buffer'), address: 'own', failed: true };
  for (let tries = 0; tries < count; tries += 1)
    await insertRow(db, 'sign_in_tries', { ...tried, created_at: ago(0), ...row });
}

const minuteMs = 60_000;

/** What has failed before, and the seconds that the next try must wait; none if it may be made. */
const cases: readonly (readonly [string, readonly (readonly [number, Tried])[], number | undefined])[] = [
  ['nine failures', [[9, {}]], undefined],
  ['ten', [[10, {}]], 2],
  ['eleven', [[11, {}]], 4],
  ['fourteen', [[14, {}]], 32],
  ['fifteen', [[15, {}]], 60],
  ['a hundred of a source', [[99, {}]], 60],
  [
    'ten, the last a second ago',
    [
      [9, { created_at: ago(5_000) }],
      [1, { created_at: ago(1_000) }],
    ],
    1,
  ],
  ['ten, the last two seconds ago', [[10, { created_at: ago(2_000) }]], undefined],
  ['eleven, the last half a second ago', [[11, { created_at: ago(500) }]], 4],
  [
    'ten, one of them fifteen minutes ago',
    [
      [9, {}],
      [1, { created_at: ago(15 * minuteMs) }],
    ],
    undefined,
  ],
  [
    'ten, one of them not quite fifteen minutes ago',
    [
      [9, {}],
      [1, { created_at: ago(15 * minuteMs - 1) }],
    ],
    2,
  ],
  [
    'ten, one of which succeeded',
    [
      [9, {}],
      [1, { failed: false }],
    ],
    undefined,
  ],
  [
    'ten, one of them at another address',
    [
      [9, {}],
      [1, { email_hash: Buffer.alloc(32) }],
    ],
    undefined,
  ],
  [
    '99 of all sources',
    [
      [1, {}],
      [98, { address: 'other' }],
    ],
    undefined,
  ],
  [
    'a hundred of all sources',
    [
      [1, {}],
      [99, { address: 'other' }],
    ],
    60,
  ],
  ['a hundred of others', [[100, { address: 'other' }]], undefined],
];

for (const [what, tries, waitSeconds] of cases) {
  test(`after ${what} a password try ${waitSeconds === undefined ? 'is made' : `waits ${waitSeconds} s`}`, () =>
    rolledBack(database.db, async (db) => {
      for (const [count, row] of tries) await addTries(db, count, row);
      const attempt = await countPasswordTry(db, email, 'own');
      assert.equal(attempt.tryId === undefined, waitSeconds !== undefined);
      if (waitSeconds !== undefined) assert.equal(attempt.waitSeconds, waitSeconds);
    }));
}

test('a try counts as failed from its beginning, unless it succeeds', () =>
  rolledBack(database.db, async (db) => {
    await addTries(db, 8);
    const [succeeds] = [await countPasswordTry(db, email, 'own'), await countPasswordTry(db, email, 'own')];
    assert.equal((await countPasswordTry(db, email, 'own')).tryId, undefined);
    await markTrySucceeded(db, succeeds.tryId ?? assert.fail());
    assert.notEqual((await countPasswordTry(db, email, 'own')).tryId, undefined);
  }));
