import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { createAccount } from '../../src/credits/open-account.ts';
import { listTaskEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { readCurrentAndAnnouncedPrices } from '../../src/credits/prices/current-and-announced-prices.ts';
import { quoteTask } from '../../src/credits/prices/task-price-sql-and-quote.ts';
import { modelInputDeclarationSchema } from '../../src/catalogue/input/model-input-declaration-schema.ts';
import type { Model } from '../../src/catalogue/models/model-type-and-name-lookup.ts';
import {
  creditsForDuration,
  matchesConditions,
  type PriceConditions,
  priceOfInputAt,
  type CataloguePrice,
} from '../../src/catalogue/prices/model-prices.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import type { TaskInput } from '../../src/catalogue/input/task-input.ts';
import { taskTerms } from '../../src/tasks/accept/task-terms-and-request-fingerprint.ts';
import { failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { insertBackdatedPrice } from '../support/tasks/backdated-price.ts';
import { runs } from '../support/property.ts';
import { taskParam } from '../support/tasks/tasks.ts';

// The price of a task for random tables, inputs and operators' prices: what is quoted is charged and refunded.

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

/** Whole hours, so that no price begins while the test runs. */
const hourMs = 3_600_000;
const inMs = fc.integer({ min: -3, max: 3 }).map((hours) => hours * hourMs);
const amounts = fc
  .record({ creditsPerSecond: fc.nat({ max: 1_000_000 }), creditsPerVideo: fc.nat({ max: 1_000_000 }) })
  .filter(({ creditsPerSecond, creditsPerVideo }) => creditsPerSecond + creditsPerVideo > 0);
const rate = fc.record({ amounts, inMs });

const anyInput = modelInputDeclarationSchema.parse({
  resolution: { values: ['480p', '720p', '1080p'] },
  duration: { min: 1, max: 60 },
  ratio: { values: ['16:9'] },
  generateAudio: {},
  imageUrls: { max: 9 },
  firstFrameUrl: {},
  videoUrls: { max: 3 },
  options: {
    tier: { type: 'string', values: ['std', 'pro'] },
    fast: { type: 'boolean' },
    steps: { type: 'integer', min: 1, max: 50 },
  },
});
const presence = fc.constantFrom('present' as const, 'absent' as const);
const tier = fc.constantFrom('std', 'pro');
const conditions: fc.Arbitrary<PriceConditions> = fc.record(
  {
    resolution: fc.constantFrom('480p' as const, '720p' as const, '1080p' as const),
    generateAudio: fc.boolean(),
    options: fc.record({ tier, fast: fc.boolean(), steps: fc.constantFrom(10, 20) }, { requiredKeys: [] }),
    imageUrls: presence,
    firstFrameUrl: presence,
    videoUrls: presence,
  },
  { requiredKeys: [] },
);
const url = 'https://media.example/x';
const input: fc.Arbitrary<Partial<TaskInput>> = fc.record(
  {
    duration: fc.integer({ min: 1, max: 60 }),
    resolution: fc.constantFrom('480p' as const, '720p' as const, '1080p' as const),
    generateAudio: fc.boolean(),
    imageUrls: fc.constantFrom([], [url]),
    options: fc.record({ tier, fast: fc.boolean(), steps: fc.constantFrom(10, 20, 30) }, { requiredKeys: [] }),
    firstFrameUrl: fc.constant(url),
    videoUrls: fc.constantFrom([], [url]),
  },
  { requiredKeys: [] },
);
const table = fc.array(fc.record({ when: conditions, rates: fc.array(rate, { minLength: 1, maxLength: 3 }) }), {
  maxLength: 2,
});
const decision = fc.record({
  whose: fc.constantFrom('own' as const, 'general' as const, 'of another account' as const),
  /** The position of a price in the table. A position beyond its end names no price. */
  price: fc.nat({ max: 3 }),
  amounts: fc.option(amounts, { nil: undefined, freq: 3 }),
  inMs,
  isWithdrawn: fc.constantFrom(false, false, false, true),
});
const story = fc.record({
  table,
  reloaded: table,
  input,
  last: rate,
  decisions: fc.array(decision, { maxLength: 24 }),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

type Amounts = { readonly creditsPerSecond: number; readonly creditsPerVideo: number };
type Begun = { readonly inMs: number; readonly amounts: Amounts | undefined };
const offsetsMs = [0, 1.5, 2.5, 3.5].map((hours) => hours * hourMs);

/** Of several from the same instant, the last decision counts. */
function latest<One extends Begun>(all: readonly One[], atMs: number): One | undefined {
  return all
    .filter((one) => one.inMs <= atMs)
    .reduce<One | undefined>((found, one) => (found === undefined || one.inMs >= found.inMs ? one : found), undefined);
}

/** The rule on paper: the first price that has begun and matches, and the nearest amounts for it. */
function onPaper(
  { table: drawn, last, decisions }: Story,
  rows: readonly CataloguePrice[],
  of: TaskInput,
  atMs: number,
) {
  const all = [...drawn.map(({ rates }) => rates), [{ ...last, inMs: -9 * hourMs }, last]];
  for (const [index, rates] of all.entries()) {
    const row = rows[index];
    const listed = latest(rates, atMs);
    if (row === undefined || listed === undefined || !matchesConditions(row.when, of)) continue;
    const decided = (whose: string) =>
      latest(
        decisions.filter((one) => one.whose === whose && one.price === index && !one.isWithdrawn),
        atMs,
      )?.amounts;
    return { name: row.name, ...(decided('own') ?? decided('general') ?? listed.amounts) };
  }
  return undefined;
}

/** Rates of the same instant are one, as a catalogue requires. */
function rowOf(
  name: string,
  when: PriceConditions,
  rates: readonly (typeof rate extends fc.Arbitrary<infer T> ? T : never)[],
  nowMs: number,
): CataloguePrice {
  const unique = [...new Map(rates.map((one) => [one.inMs, one])).values()].toSorted((a, b) => a.inMs - b.inMs);
  return { name, when, amounts: unique.map((one) => ({ ...one.amounts, fromMs: nowMs + one.inMs })) };
}

function modelOf(name: string, { table: drawn, last }: Story, nowMs: number): Model {
  const prices = [
    ...drawn.map(({ when, rates }, index) => rowOf(`price ${index}`, when, rates, nowMs)),
    rowOf(`price ${drawn.length}`, {}, [{ ...last, inMs: -9 * hourMs }, last], nowMs),
  ];
  return { model: name, title: name, input: anyInput, prices, providers: [], deadlineMs: 1_800_000 };
}

test("a task is quoted, charged and refunded the same, for any table, input and operators' prices", async () => {
  const { db } = database;
  const [accountId, otherId] = [await newAccount(), await newAccount()];
  await fc.assert(
    fc.asyncProperty(story, async (drawn) => {
      const nowMs = Date.now();
      const model = modelOf(`model-${uuidv7()}`, drawn, nowMs);
      for (const { whose, price, ...decided } of drawn.decisions) {
        const owner = whose === 'own' ? accountId : whose === 'general' ? undefined : otherId;
        const { amounts: set, isWithdrawn } = decided;
        const row = { model: model.model, priceName: `price ${price}`, accountId: owner, isWithdrawn };
        const both = { creditsPerSecond: set?.creditsPerSecond, creditsPerVideo: set?.creditsPerVideo };
        await insertBackdatedPrice(db, { ...row, ...both, fromMs: nowMs + decided.inMs });
      }
      const param = { ...taskParam('priced', drawn.input), model: model.model };
      const { duration } = param.input;
      const terms = taskTerms(model, param);
      const expected = onPaper(drawn, model.prices, param.input, 0);
      assert.ok(expected);
      const { name, ...paid } = expected;
      const credits = creditsForDuration(expected, duration);

      const quoted = { accountId, model: model.model, durationSeconds: duration, listedPrices: terms.listedPrices };
      assert.deepEqual({ ...(await quoteTask(db, quoted)) }, { priceName: name, ...paid, credits });

      await assertListed(drawn, accountId, { model, of: param.input, nowMs });
      const taskId = uuidv7();
      const accepted = await acceptTaskAlone(db, { taskId, accountId, ...terms, idempotencyKey: taskId });
      assert.deepEqual([accepted.kind, accepted.kind === 'accepted' && accepted.creditsCharged], ['accepted', credits]);

      // Neither a catalogue that is reloaded nor prices that operators change afterwards concern the task.
      const reloaded = modelOf(model.model, { ...drawn, table: drawn.reloaded }, nowMs);
      await insertBackdatedPrice(db, { model: model.model, priceName: name, creditsPerSecond: 3, fromMs: nowMs - 1 });
      const again = { taskId: uuidv7(), accountId, ...taskTerms(reloaded, param), idempotencyKey: taskId };
      const replayed = { kind: 'replayed', taskId, creditsCharged: credits, state: 'waiting' };
      assert.deepEqual(await acceptTaskAlone(db, again), replayed);
      await failAndRefund(db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
      const task = await findTask(db, taskId);
      assert.deepEqual([task?.priceName, task?.creditsCharged, task?.creditsRefunded], [name, credits, credits]);
      const entries = (await listTaskEntries(db, taskId)).map(({ kind, amount, priceName }) => [
        kind,
        amount,
        priceName,
      ]);
      assert.deepEqual(entries, [
        ['charge', -credits, name],
        ['refund', credits, name],
      ]);
    }),
    runs(600),
  );
});

type Priced = { readonly model: Model; readonly of: TaskInput; readonly nowMs: number };

/** The console computes its live price from the lists, now and at announced times. */
async function assertListed(drawn: Story, accountId: string, { model, of, nowMs }: Priced): Promise<void> {
  const shown = (await readCurrentAndAnnouncedPrices(database.db, accountId, [model])).get(model.model) ?? [];
  for (const offsetMs of offsetsMs) {
    const listed = priceOfInputAt(shown, of, nowMs + offsetMs + (offsetMs === 0 ? 60_000 : 0));
    const { fromMs: _fromMs, ...found } = listed ?? assert.fail('no price');
    assert.deepEqual(found, onPaper(drawn, model.prices, of, offsetMs));
  }
  for (const { amounts: listed } of shown) {
    const beginnings = listed.map(({ fromMs }) => fromMs);
    assert.deepEqual(
      beginnings,
      [...new Set(beginnings)].toSorted((a, b) => a - b),
    );
    assert.ok(beginnings.filter((fromMs) => fromMs <= Date.now()).length <= 1, 'one of them is in force');
  }
}

test('the price that TypeScript finds in a table is the one that the database finds', async () => {
  const accountId = await newAccount();
  await fc.assert(
    fc.asyncProperty(story, async (drawn) => {
      const nowMs = Date.now();
      const model = modelOf(`model-${uuidv7()}`, drawn, nowMs);
      const param = { ...taskParam('priced', drawn.input), model: model.model };
      const { listedPrices } = taskTerms(model, param);
      const durationSeconds = param.input.duration;
      const quote = await quoteTask(database.db, { accountId, model: model.model, durationSeconds, listedPrices });
      const found = priceOfInputAt(model.prices, param.input, nowMs);
      assert.deepEqual(
        [quote?.priceName, quote?.credits],
        [found?.name, found && creditsForDuration(found, durationSeconds)],
      );
    }),
    runs(1_200),
  );
});

const noLimit = { name: 'free-test-account', text: 'update accounts set max_unfinished_tasks = 1000000 where id = $1' };

async function newAccount(): Promise<string> {
  const accountId = await createAccount(database.db, { name: 'prices', credits: 1_000_000_000_000 });
  await database.db.run(noLimit, [accountId]);
  return accountId;
}
