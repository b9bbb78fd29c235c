import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import {
  findPriceEverSet,
  listActiveOperatorPriceNames,
  listOperatorPrices,
  setPrice,
  setPriceAs,
  withdrawPrice,
  withdrawPriceAs,
} from '../../../src/credits/prices/operator-prices.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { shell } from '../../support/service/person.ts';
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

test('prices are listed as announced, in force, past or withdrawn, by model and account, the newest first, in pages', async () => {
  const [own, other] = [
    await createAccount(database.db, { name: 'own', credits: 0 }),
    await createAccount(database.db, { name: 'other', credits: 0 }),
  ];
  await rolledBack(database.db, async (db) => {
    const text = 'select coalesce(max(id), 0)::bigint as last from prices';
    const [newest] = await db.run<{ last: number }>({ name: 'test-last-price', text });
    const last = newest?.last ?? assert.fail();
    const withdrawn = { withdrawn_at: ago(1), withdrawn_by: 'ada' };
    const standard = { model: 'm', price_name: 'standard', who: 'ada', reason: 'a test', created_at: ago(99) };
    const states: string[] = [];
    for (const [row, state] of [
      [{ effective_from: ago(9) }, 'past'],
      [{ effective_from: ago(0) }, 'in_force'],
      [{ effective_from: ago(-1) }, 'announced'],
      [{ effective_from: ago(0), ...withdrawn }, 'withdrawn'],
      [{ effective_from: ago(8), account_id: own }, 'past'],
      [{ effective_from: ago(7), account_id: own, credits_per_second: null, credits_per_video: null }, 'in_force'],
      [{ effective_from: ago(6), account_id: other }, 'in_force'],
      [{ effective_from: ago(5), model: 'n', price_name: 'silent' }, 'in_force'],
    ] as const) {
      await insertRow(db, 'prices', { ...standard, credits_per_second: 3, credits_per_video: 4, ...row });
      states.push(state);
    }
    const list = async (query: object) =>
      (await listOperatorPrices(db, { limit: 99, ...query })).filter(({ priceId }) => priceId > last);
    const all = await list({});
    assert.deepEqual(all.map((one) => one.state).toReversed(), states);
    const [ofOther, ended] = [all[1], all[2]];
    const { priceId: _id, createdAt, effectiveFrom, ...fields } = ofOther ?? assert.fail();
    assert.equal(effectiveFrom - createdAt, 93);
    const amounts = { creditsPerSecond: 3, creditsPerVideo: 4 };
    const about = { model: 'm', priceName: 'standard', who: 'ada', reason: 'a test', state: 'in_force' };
    assert.deepEqual(fields, { ...about, ...amounts, accountId: other, accountName: 'other' });
    assert.deepEqual([ended?.creditsPerSecond, ended?.creditsPerVideo], [undefined, undefined]);
    assert.deepEqual(await list({ accountId: own }), all.slice(2, 4));
    assert.deepEqual(await list({ model: 'n' }), all.slice(0, 1));
    assert.deepEqual(await list({ before: ofOther?.priceId, limit: 2 }), all.slice(2, 4));
    const names = (await listActiveOperatorPriceNames(db)).filter((one) => one.model !== model);
    assert.deepEqual(names, [
      { model: 'm', priceName: 'standard', accounts: 1 },
      { model: 'n', priceName: 'silent', accounts: 0 },
    ]);
    assert.ok(await findPriceEverSet(db, { model: 'n', priceName: 'silent' }));
    assert.equal(await findPriceEverSet(db, { model: 'n', priceName: 'standard' }), undefined);
    assert.equal(await findPriceEverSet(db, { model: 'o', priceName: 'silent' }), undefined);
  });
});

test('a price that is only announced is among those that operators have set, and a withdrawn one is not', async () => {
  const { db } = database;
  const amounts = { creditsPerSecond: 3, creditsPerVideo: 4 };
  const price = { model: 'announced', priceName: 'standard', accountId: undefined, ...amounts, reason: 'a test' };
  const made = await setPrice(db, { ...price, who: 'ada', fromMs: Date.now() + 3_600_000 });
  const names = async () => (await listActiveOperatorPriceNames(db)).filter((one) => one.model === 'announced');
  assert.deepEqual(await names(), [{ model: 'announced', priceName: 'standard', accounts: 0 }]);
  assert.ok(made.kind === 'set');
  await withdrawPrice(db, { priceId: made.price.priceId, who: 'ada' });
  assert.deepEqual(await names(), []);
});

test('a price is set from its instant on, at the earliest after its lead, and not in the past or of an unknown account', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'buyer', credits: 0 });
  const amounts = { creditsPerSecond: 3, creditsPerVideo: 4 };
  const price = { model: 'set', priceName: 'standard', accountId, ...amounts, who: 'ada', reason: 'a test' };
  const fromMs = Date.now() + 3_600_000;
  const made = await setPrice(db, { ...price, fromMs });
  assert.ok(made.kind === 'set');
  const { priceId, createdAt, ...fields } = made.price;
  assert.ok(createdAt < fromMs);
  assert.deepEqual(fields, { ...price, accountName: 'buyer', effectiveFrom: fromMs, state: 'announced' });
  for (const soon of [undefined, fromMs]) {
    const leadMs = soon === undefined ? 5_000 : 7_200_000;
    const postponed = await setPrice(db, { ...price, fromMs: soon, ...(soon !== undefined && { leadMs }) });
    assert.ok(postponed.kind === 'set');
    const lead = postponed.price.effectiveFrom - postponed.price.createdAt;
    assert.ok(Math.abs(lead - leadMs) < 60_000, `${lead}`);
  }
  assert.deepEqual(await setPrice(db, { ...price, fromMs: Date.now() - 3_600_000 }), { kind: 'in_the_past' });
  const general = { ...price, accountId: undefined, fromMs: 1 };
  assert.deepEqual(await setPrice(db, general), { kind: 'in_the_past' });
  assert.deepEqual(await setPrice(db, { ...price, accountId: randomUUID() }), { kind: 'account_not_found' });
  const withdraw = async (leadMs?: number) => {
    const outcome = await withdrawPrice(db, { priceId, who: 'eve', ...(leadMs !== undefined && { leadMs }) });
    return [outcome.kind, 'changed' in outcome && outcome.changed];
  };
  assert.deepEqual(await withdraw(7_200_000), ['too_late', false]);
  assert.deepEqual(
    [await withdraw(), await withdraw()],
    [
      ['withdrawn', true],
      ['withdrawn', false],
    ],
  );
  assert.deepEqual(await withdrawPrice(db, { priceId: priceId + 1e6, who: 'eve' }), { kind: 'price_not_found' });
  const authors = 'select withdrawn_by as who from prices where id = $1';
  assert.deepEqual(await db.run({ name: 'test-author', text: authors }, [priceId]), [{ who: 'eve' }]);
  const untouched = await listOperatorPrices(db, { accountId, limit: 9 });
  assert.deepEqual(
    untouched.map(({ state }) => state === 'withdrawn'),
    [false, false, true],
  );
});

test('prices that an operator sets and withdraws have their author, and are in the audit log once', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'audited', credits: 0 });
  const fromMs = Date.now() + 3_600_000;
  const ending = { creditsPerSecond: undefined, creditsPerVideo: undefined };
  const price = { model: 'audited', priceName: 'standard', accountId: undefined, ...ending, fromMs, reason: 'a test' };
  const admin = { kind: 'operator', operatorId: randomUUID(), name: 'bob', requestId: 'request 1' } as const;
  await insertRow(db, 'operators', { id: admin.operatorId, name: 'bob', hash: Buffer.alloc(32), hint: 'x' });
  const own = { ...price, accountId, creditsPerSecond: 3, creditsPerVideo: 4 };
  const set = [await setPriceAs(db, shell, own), await setPriceAs(db, admin, price)];
  const [ofAccount, general] = set.map((one) => (one.kind === 'set' ? one.price : assert.fail()));
  assert.ok(ofAccount !== undefined && general !== undefined);
  assert.deepEqual([ofAccount.who, general.who], ['ada at the command line', 'bob']);
  assert.deepEqual(await setPriceAs(db, shell, { ...own, fromMs: 1 }), { kind: 'in_the_past' });
  const { priceId } = ofAccount;
  for (const changed of [true, false]) {
    const outcome = await withdrawPriceAs(db, shell, { priceId, reason: 'a mistake' });
    assert.deepEqual(outcome, { kind: 'withdrawn', price: { ...ofAccount, state: 'withdrawn' }, changed });
  }
  const unknown = await withdrawPriceAs(db, shell, { priceId: priceId + 1e6, reason: 'x' });
  assert.deepEqual(unknown, { kind: 'price_not_found' });
  const soon = await setPriceAs(db, shell, { ...own, fromMs: undefined, leadMs: 0 });
  assert.ok(soon.kind === 'set');
  const late = await withdrawPriceAs(db, shell, { priceId: soon.price.priceId, reason: 'x' });
  assert.equal(late.kind, 'too_late');
  const authors = 'select withdrawn_by as who from prices where id = $1';
  assert.deepEqual(await db.run({ name: 'test-author', text: authors }, [priceId]), [
    { who: 'ada at the command line' },
  ]);
  const details = { model: 'audited', priceName: 'standard', effectiveFrom: fromMs, reason: 'a test' };
  const amounts = { creditsPerSecond: 3, creditsPerVideo: 4 };
  const actions = (await listOperatorActions(db, { limit: 4 })).slice(1);
  assert.deepEqual(
    actions.map((one) => [one.action, one.accountId, one.actor, one.details]),
    [
      ['prices.withdraw', accountId, shell, { ...details, priceId, ...amounts, reason: 'a mistake' }],
      [
        'prices.set',
        undefined,
        admin,
        { ...details, priceId: general.priceId, creditsPerSecond: null, creditsPerVideo: null },
      ],
      ['prices.set', accountId, shell, { ...details, priceId, ...amounts }],
    ],
  );
});
