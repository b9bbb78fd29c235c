import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Model } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { readCurrentAndAnnouncedPrices } from '../../../src/credits/prices/current-and-announced-prices.ts';
import { type QuotedTask, quoteTask } from '../../../src/credits/prices/task-price-sql-and-quote.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'own', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

type Row = Readonly<Record<string, unknown>>;
const hourMs = 3_600_000;
const begun = (ms: number) => ({ effective_from: ago(ms) });

/** An operator's price, general and begun an hour ago unless `row` says otherwise. */
async function addPrice(db: StatementRunner, creditsPerSecond: number | null, row: Row = {}): Promise<void> {
  const amounts = { credits_per_second: creditsPerSecond, credits_per_video: creditsPerSecond === null ? null : 5 };
  const about = { model: 'm', price_name: 'standard', created_at: ago(9 * hourMs), who: 'ada', reason: 'a test' };
  await insertRow(db, 'prices', { ...about, ...begun(hourMs), ...amounts, ...row });
}

async function nowMs(db: StatementRunner): Promise<number> {
  const text = 'select floor(extract(epoch from now()) * 1000)::bigint as at';
  return (await db.run<{ at: number }>({ name: 'test-now-ms', text }))[0]?.at ?? assert.fail();
}

const listed = { name: 'standard', creditsPerSecond: 33, creditsPerVideo: 2, fromMs: 0 };
const [ofCatalogue, general, own] = [
  { creditsPerSecond: 33, creditsPerVideo: 2, credits: 134 },
  { creditsPerSecond: 20, creditsPerVideo: 5, credits: 85 },
  { creditsPerSecond: 10, creditsPerVideo: 5, credits: 45 },
];

/** The operators' prices, in the order of their decisions, and the one that applies. */
const cases = (): readonly (readonly [string, readonly (readonly [number | null, Row?])[], object])[] => {
  const mine = { account_id: accountId };
  const withdrawn = { ...begun(1), withdrawn_at: ago(2), withdrawn_by: 'ada' };
  return [
    ['no other', [], ofCatalogue],
    ['a general one', [[20]], general],
    ["the account's own", [[10, mine], [20]], own],
    ['that of another account', [[10, { account_id: otherAccountId }]], ofCatalogue],
    ['one that begins now', [[20, begun(0)]], general],
    ['one that begins later', [[20, begun(-1)]], ofCatalogue],
    ['a withdrawn one', [[20, withdrawn]], ofCatalogue],
    [
      'the latest',
      [
        [20, begun(1)],
        [30, begun(2)],
      ],
      general,
    ],
    ['of two of one time the last decided', [[30], [20]], general],
    ['that of another model', [[20, { model: 'other' }]], ofCatalogue],
    ['that of another price', [[20, { price_name: 'other' }]], ofCatalogue],
    ['an end of the general one', [[20], [null, begun(1)]], ofCatalogue],
    [
      "an end of the account's own",
      [
        [10, mine],
        [20, begun(2)],
        [null, { ...mine, ...begun(1) }],
      ],
      general,
    ],
  ];
};

test("a task costs its account's own price, else the general one, else the catalogue's", async () => {
  for (const [what, prices, expected] of cases()) {
    await rolledBack(database.db, async (db) => {
      for (const [amount, row] of prices) await addPrice(db, amount, row);
      const task: QuotedTask = { accountId, model: 'm', durationSeconds: 4, listedPrices: [listed] };
      assert.deepEqual(await quoteTask(db, task), { priceName: 'standard', ...expected }, what);
    });
  }
});

test('the first price of a list that has begun applies, and none if none has', () =>
  rolledBack(database.db, async (db) => {
    const now = await nowMs(db);
    const later = { ...listed, name: 'later', fromMs: now + 1 };
    const [first, second] = [
      { ...listed, name: 'first', fromMs: now },
      { ...listed, name: 'second', creditsPerSecond: 1 },
    ];
    const nameOf = async (listedPrices: readonly (typeof listed)[]) =>
      (await quoteTask(db, { accountId, model: 'm', durationSeconds: 4, listedPrices }))?.priceName;
    assert.deepEqual(
      [await nameOf([later, first, second]), await nameOf([second, first]), await nameOf([later]), await nameOf([])],
      ['first', 'second', undefined, undefined],
    );
  }));

test('a list has each price of each model in force and as announced, from the instant of each change on', () =>
  rolledBack(database.db, async (db) => {
    const now = await nowMs(db);
    const at = (ms: number) => ({ effective_from: new Date(now + ms) });
    const amounts = (creditsPerSecond: number, fromMs: number, creditsPerVideo = 5) => ({
      fromMs,
      creditsPerSecond,
      creditsPerVideo,
    });
    const row = (name: string, ...all: readonly ReturnType<typeof amounts>[]) => ({ name, when: {}, amounts: all });
    const models = [
      {
        model: 'm',
        prices: [row('standard', amounts(33, 0, 2), amounts(40, now + 9_000, 2)), row('silent', amounts(7, 0, 0))],
      },
      { model: 'other', prices: [row('standard', amounts(1, 5, 0))] },
      { model: 'coming', prices: [row('standard', amounts(3, now + 5_000, 0))] },
    ] as unknown as readonly Model[]; // the fields that are read
    const read = async (of?: string) => Object.fromEntries(await readCurrentAndAnnouncedPrices(db, of, models));
    const others = {
      other: [row('standard', amounts(1, 5, 0))],
      coming: [row('standard', amounts(3, now + 5_000, 0))],
    };
    const silent = row('silent', amounts(7, 0, 0));
    const catalogue = { m: [row('standard', amounts(33, 0, 2), amounts(40, now + 9_000, 2)), silent], ...others };
    assert.deepEqual(await read(accountId), catalogue);
    await addPrice(db, 10, { account_id: accountId, ...at(2_000) });
    await addPrice(db, 99, { account_id: otherAccountId, ...at(1_000) });
    await addPrice(db, 98, { ...at(1_000), withdrawn_at: new Date(now), withdrawn_by: 'ada' });
    assert.deepEqual(await read(), catalogue, 'without an account');
    await addPrice(db, 20, at(-1_000));
    await addPrice(db, 21, at(3_000));
    const generalAmounts = [amounts(20, now - 1_000), amounts(21, now + 3_000)];
    assert.deepEqual(await read(), { ...catalogue, m: [row('standard', ...generalAmounts), silent] });
    const ownAmounts = [amounts(20, now - 1_000), amounts(10, now + 2_000)];
    assert.deepEqual(await read(accountId), { ...catalogue, m: [row('standard', ...ownAmounts), silent] });
  }));
