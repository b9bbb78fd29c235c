import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiKeyHint, generateApiKey, hashApiKey } from '../../../src/accounts/keys/key-format.ts';
import { createKeyTouches } from '../../../src/accounts/keys/key-touches.ts';
import { createKeyUnchecked, listApiKeys } from '../../../src/accounts/keys/keys.ts';
import {
  createOperator,
  findAndTouchOperatorByKey,
  listOperators,
  revokeOperator,
} from '../../../src/accounts/operators/operator-keys.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const minuteMs = 60_000;
let operators = 0;

/** An operator with these columns, and the key; ids grow with each. */
async function addOperator(db: StatementRunner, row: Readonly<Record<string, unknown>> = {}) {
  const key = generateApiKey('operator');
  const name = `operator ${(operators += 1)}`;
  const id = `00000000-0000-4000-8000-${String(operators).padStart(12, '0')}`;
  await insertRow(db, 'operators', { id, name, hash: hashApiKey(key), hint: 'hint', ...row });
  return { id, name, key };
}

async function usedMs(db: StatementRunner, table: 'operators' | 'api_keys') {
  const text = `select name, (extract(epoch from now() - last_used_at) * 1000)::int as ms from ${table}`;
  const rows = await db.run<{ name: string; ms: number | null }>({ name: `test-used-${table}`, text });
  return Object.fromEntries(rows.map(({ name, ms }) => [name, ms]));
}

test('an operator is found by the key until it is revoked or expires, and its use is recorded once a minute', () =>
  rolledBack(database.db, async (db) => {
    const untouched = await addOperator(db);
    const expected: Record<string, number | null> = { [untouched.name]: null };
    for (const [row, isFound, used] of [
      [{}, true, 0],
      [{ last_used_at: ago(minuteMs) }, true, minuteMs],
      [{ last_used_at: ago(minuteMs + 1) }, true, 0],
      [{ expires_at: ago(-1) }, true, 0],
      [{ expires_at: ago(0) }, false, null],
      [{ revoked_at: ago(0) }, false, null],
    ] as const) {
      const { id, name, key } = await addOperator(db, row);
      const found = await findAndTouchOperatorByKey(db, key);
      assert.deepEqual(found, isFound ? { operatorId: id, name } : undefined, JSON.stringify(row));
      expected[name] = used;
    }
    assert.equal(await findAndTouchOperatorByKey(db, generateApiKey('operator')), undefined);
    assert.equal(await findAndTouchOperatorByKey(db, generateApiKey()), undefined);
    assert.deepEqual(await usedMs(db, 'operators'), expected);
  }));

test('operators are listed with the active ones first and the newest of each first, and revoked once', () =>
  rolledBack(database.db, async (db) => {
    const [first, expired, revoked, last] = [
      await addOperator(db),
      await addOperator(db, { expires_at: ago(0) }),
      await addOperator(db, { revoked_at: ago(5) }),
      await addOperator(db),
    ];
    const ids = async () => (await listOperators(db)).map(({ operatorId }) => operatorId);
    assert.deepEqual(await ids(), [last.id, first.id, revoked.id, expired.id]);
    const done = (await revokeOperator(db, last.id)) ?? assert.fail();
    assert.equal(done.changed, true);
    assert.deepEqual(await revokeOperator(db, last.id), { ...done, changed: false });
    assert.deepEqual(await ids(), [first.id, last.id, revoked.id, expired.id]);
    assert.equal(await revokeOperator(db, '00000000-0000-4000-8000-999999999999'), undefined);
    const { operatorId, key } = await createOperator(db, { name: 'made', expiresAt: 1_000 });
    const made = (await listOperators(db)).find((one) => one.operatorId === operatorId) ?? assert.fail();
    const { createdAt, ...fields } = made;
    assert.ok(createdAt > 0);
    const unused = { lastUsedAt: undefined, revokedAt: undefined };
    assert.deepEqual(fields, { operatorId, name: 'made', hint: apiKeyHint(key), expiresAt: 1_000, ...unused });
  }));

test('the use of keys is recorded in a batch, once a minute for each, and for no other key', () =>
  rolledBack(database.db, async (db) => {
    const accountId = await createAccount(db, { name: 'keys', credits: 0 });
    const newKey = async (name: string, lastUsedMs?: number) => {
      const { keyId } = (await createKeyUnchecked(db, { accountId, name, scopes: [] })) ?? assert.fail();
      const text = `update api_keys set last_used_at = now() - $2::float8 * interval '1 millisecond' where id = $1`;
      if (lastUsedMs !== undefined) await db.run({ name: 'test-age-key', text }, [keyId, lastUsedMs]);
      return keyId;
    };
    const touches = createKeyTouches(db, 3_600_000);
    for (const id of [await newKey('new'), await newKey('recent', minuteMs), await newKey('old', minuteMs + 1)])
      touches.add(id);
    await newKey('other');
    await touches.drain();
    assert.deepEqual(await usedMs(db, 'api_keys'), { new: 0, recent: minuteMs, old: 0, other: null });
    assert.equal((await listApiKeys(db, accountId)).length, 4);
  }));

test('a use of a key that cannot be recorded is no error, and later uses are recorded', () =>
  rolledBack(database.db, async (db) => {
    const accountId = await createAccount(db, { name: 'keys', credits: 0 });
    const { keyId } = (await createKeyUnchecked(db, { accountId, name: 'used', scopes: [] })) ?? assert.fail();
    let isDown = true;
    const run: typeof db.run = (...statement) =>
      isDown ? Promise.reject(new Error('the database is down')) : db.run(...statement);
    const touches = createKeyTouches({ ...db, run }, 3_600_000);
    touches.add(keyId);
    await touches.drain();
    isDown = false;
    touches.add(keyId);
    await touches.drain();
    assert.deepEqual(await usedMs(db, 'api_keys'), { used: 0 });
  }));
