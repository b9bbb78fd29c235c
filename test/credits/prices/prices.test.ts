import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listOperatorPrices, setPrice, withdrawPrice } from '../../../src/credits/prices/prices.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';

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
  const amounts = { priceName: 'standard', creditsPerSecond: 30, creditsPerVideo: 0 };
  const request = { model, accountId: undefined, ...amounts, fromMs, who: 'test', reason: 'test' };
  const setting = await setPrice(database.db, request);
  assert.ok(setting.kind === 'set');
  return setting.price.priceId;
}

test('a price is never deleted and never changed, by any statement; only one that has not begun is withdrawn', async () => {
  await insertBackdatedPrice(database.db, { model, creditsPerSecond: 30, fromMs: 5_000 });
  const [inForce] = await listOperatorPrices(database.db, { limit: 1 });
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

test('a price of nothing, half a price, one that begins immediately, and one without an author are refused by the table itself', async () => {
  const insert = (amounts: string, { from = `now() + interval '1 day'`, who = `'x'`, name = `'n'` } = {}) =>
    run(
      `insert into prices (model, price_name, credits_per_second, credits_per_video, effective_from, who, reason)
       values ('m', ${name}, ${amounts}, ${from}, ${who}, 'r')`,
    );
  await assert.rejects(insert('0, 0'), /nothing_is_free/);
  await assert.rejects(insert('-1, 5'), /credits_per_second_check/);
  await assert.rejects(insert('1000001, 0'), /credits_per_second_check/);
  await assert.rejects(insert('0, 1000001'), /credits_per_video_check/);
  await assert.rejects(insert('5, null'), /both_amounts_or_none/);
  await assert.rejects(insert('null, 5'), /both_amounts_or_none/);
  await assert.rejects(insert('5, 0', { name: `''` }), /price_name_check/);
  await assert.rejects(insert('5, 0', { from: 'now()' }), /price_begins_after_its_decision/);
  await assert.rejects(insert('5, 0', { who: `''` }), /who_check/);
});

test('one of two concurrent calls withdraws a price', async () => {
  const priceId = await announced();
  const both = await Promise.all([1, 2].map(() => withdrawPrice(database.db, { priceId, who: 'test' })));
  assert.deepEqual(new Set(both.map((one) => one.kind === 'withdrawn' && one.changed)), new Set([true, false]));
});
