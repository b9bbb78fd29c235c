import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listPrices, setPrice, withdrawPrice } from '../../src/credits/prices.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertDecidedPrice } from '../support/decided-price.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

const model = 'videogen-2.0';

function run(text: string): Promise<unknown> {
  return database.db.run({ name: '', text });
}

async function announced(): Promise<number> {
  const fromMs = Date.now() + 3_600_000;
  const request = { model, accountId: undefined, creditsPerSecond: 30, fromMs, who: 'test', reason: 'test' };
  const setting = await setPrice(database.db, request);
  assert.ok(setting.kind === 'set');
  return setting.price.priceId;
}

test('a price is never deleted and never changed, by any statement; only one that has not begun is withdrawn', async () => {
  await insertDecidedPrice(database.db, { model, creditsPerSecond: 30, fromMs: 5_000 });
  const [inForce] = await listPrices(database.db, { limit: 1 });
  assert.ok(inForce);
  const mark = `withdrawn_by = 'x', withdrawn_at = effective_from - interval '1 ms'`;
  await assert.rejects(run(`update prices set ${mark} where id = ${inForce.priceId}`), /cannot be changed any more/);
  const priceId = await announced();
  await assert.rejects(
    run(`update prices set credits_per_second = 1 where id = ${priceId}`),
    /cannot be changed any more/,
  );
  await assert.rejects(
    run(`update prices set effective_from = now() where id = ${priceId}`),
    /cannot be changed any more/,
  );
  assert.equal((await withdrawPrice(database.db, { priceId, who: 'test' })).kind, 'withdrawn');
  const undo = `update prices set withdrawn_at = null, withdrawn_by = null where id = ${priceId}`;
  await assert.rejects(run(undo), /cannot be changed any more/);
  await assert.rejects(run('delete from prices'), /not allowed/);
  await assert.rejects(run('truncate prices'), /not allowed/);
});

test('a price of zero, one that begins immediately, and one without an author are refused by the table itself', async () => {
  const insert = (credits: string, from: string, who = `'x'`) =>
    run(
      `insert into prices (model, credits_per_second, effective_from, who, reason) values ('m', ${credits}, ${from}, ${who}, 'r')`,
    );
  await assert.rejects(insert('0', `now() + interval '1 day'`), /credits_per_second_check/);
  await assert.rejects(insert('1000001', `now() + interval '1 day'`), /credits_per_second_check/);
  await assert.rejects(insert('5', 'now()'), /price_begins_after_its_decision/);
  await assert.rejects(insert('5', `now() + interval '1 day'`, `''`), /who_check/);
});

test('one of two concurrent calls withdraws a price', async () => {
  const priceId = await announced();
  const both = await Promise.all([1, 2].map(() => withdrawPrice(database.db, { priceId, who: 'test' })));
  assert.deepEqual(new Set(both.map((one) => one.kind === 'withdrawn' && one.changed)), new Set([true, false]));
});
