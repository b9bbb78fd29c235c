import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { createCheckAndEndTaskActivity } from '../../activities/end-task.ts';
import { resultKeysOf } from '../../activities/task-file-keys-and-deletion.ts';
import { createAccount } from '../../src/credits/open-account.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { readBalanceAndEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { frameSize, type FrameSize } from '../../src/catalogue/media/frame-size.ts';
import { shortfallPolicies } from '../../src/catalogue/models/model-type-and-name-lookup.ts';
import type { PriceAmounts, CataloguePrice } from '../../src/catalogue/prices/model-prices.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import { standardModelInput } from '../../src/catalogue/input/task-input.ts';
import { taskTerms } from '../../src/tasks/accept/task-terms-and-request-fingerprint.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { workerParts } from '../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { insertBackdatedPrice } from '../support/tasks/backdated-price.ts';
import { runs } from '../support/property.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';
import { madeUpMeasures, taskParam } from '../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'shortfalls', credits: 1_000_000_000 });
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

const hourMs = 3_600_000;
const price = fc
  .record({ creditsPerSecond: fc.nat({ max: 40 }), creditsPerVideo: fc.nat({ max: 60 }) })
  .filter(({ creditsPerSecond, creditsPerVideo }) => creditsPerSecond + creditsPerVideo > 0);
type Price = Pick<PriceAmounts, 'creditsPerSecond' | 'creditsPerVideo'>;
/** A price of the catalogue, and the one that an operator may have set an hour ago, or for an hour from now, for all or the account. */
const row = fc.record({
  amounts: price,
  decided: fc.option(fc.record({ amounts: price, inForce: fc.boolean(), isOwn: fc.boolean() }), { nil: undefined }),
});
const catalogue = fc.record({
  standard: row,
  silent: fc.option(row, { nil: undefined }),
  shortfall: fc.constantFrom(...shortfallPolicies),
});
const order = fc.record({
  duration: fc.integer({ min: 1, max: 60 }),
  generateAudio: fc.boolean(),
  ratio: fc.constantFrom('16:9' as const, '9:16' as const, '1:1' as const, 'adaptive' as const),
  resolution: fc.constantFrom('480p' as const, '720p' as const, '1080p' as const),
});
/** Mostly what was ordered, so that each aspect also differs alone. */
const made = fc.record({
  seconds: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, fc.double({ min: 0.1, max: 70, noNaN: true })),
  hasAudio: fc.oneof(fc.constant(undefined), fc.constant(false)),
  shape: fc.constantFrom(
    'ordered' as const,
    'ordered' as const,
    'turned' as const,
    'quartered' as const,
    'doubled' as const,
  ),
});

type Row = { readonly amounts: Price; readonly decided?: { amounts: Price; inForce: boolean } | undefined };
const inForce = ({ amounts, decided }: Row) => (decided?.inForce === true ? decided.amounts : amounts);
const creditsOf = ({ creditsPerSecond, creditsPerVideo }: Price, seconds: number) =>
  seconds * creditsPerSecond + creditsPerVideo;

test('charged less refunded is the price of what was delivered, for any catalogue, order and video', async () => {
  const deps = workerParts(database.db, '/nonexistent', []);
  await fc.assert(
    fc.asyncProperty(catalogue, order, made, async ({ standard, silent, shortfall }, ordered, { shape, ...video }) => {
      const name = `model-${uuidv7()}`;
      const rows = silent === undefined ? [] : [{ ...silent, name: 'silent', when: { generateAudio: false } }];
      const prices: CataloguePrice[] = [...rows, { ...standard, name: 'standard', when: {} }].map(
        ({ amounts, ...one }) => ({
          name: one.name,
          when: one.when,
          amounts: [{ ...amounts, fromMs: 0 }],
        }),
      );
      for (const { decided, priceName } of [
        { ...standard, priceName: 'standard' },
        { ...silent, priceName: 'silent' },
      ]) {
        if (decided === undefined) continue;
        const fromMs = Date.now() + (decided.inForce ? -hourMs : hourMs);
        const owner = decided.isOwn ? { accountId } : {};
        await insertBackdatedPrice(database.db, { model: name, priceName, ...decided.amounts, ...owner, fromMs });
      }
      const model = {
        model: name,
        title: name,
        input: standardModelInput,
        prices,
        providers: [],
        deadlineMs: 1,
        shortfall,
      };
      const taskId = uuidv7();
      const param = { ...taskParam('any', ordered), model: name };
      assert.equal(
        (await acceptTaskAlone(database.db, { taskId, accountId, ...taskTerms(model, param) })).kind,
        'accepted',
      );
      const seconds = video.seconds ?? ordered.duration;
      const hasAudio = video.hasAudio ?? ordered.generateAudio;
      const size = shaped(frameSize(ordered.resolution, ordered.ratio, undefined), shape);
      const keys = resultKeysOf(taskId, madeUpMeasures.sha256);
      const facts = { ...madeUpMeasures, ...size, durationSeconds: seconds, hasAudio };
      const result = { ...facts, videoKey: keys.video, posterKey: keys.poster };
      const { balance: balanceBefore } = await readBalanceAndEntries(database.db, { accountId, limit: 1 });
      await silentActivity({ workflowId: taskId }, () => createCheckAndEndTaskActivity(deps)({ taskId, result }));

      const { state, creditsCharged, creditsRefunded } = (await findTask(database.db, taskId)) ?? assert.fail();
      const of = (sound: boolean) => inForce(sound || silent === undefined ? standard : silent);
      const charged = creditsOf(of(ordered.generateAudio), ordered.duration);
      const isTurned = shape === 'turned' && ordered.ratio !== '1:1' && ordered.ratio !== 'adaptive';
      const isUnpriced = isTurned || shape === 'quartered';
      const whole = Math.min(ordered.duration, Math.floor(seconds + 0.5));
      const isSilent = ordered.generateAudio && !hasAudio;
      const delivered = creditsOf(of(hasAudio && ordered.generateAudio), whole);
      const paid = paidFor({
        shortfall,
        charged,
        delivered,
        isWhole: !isUnpriced && whole === ordered.duration && !isSilent,
        isPriced:
          !isUnpriced &&
          whole >= 1 &&
          (whole === ordered.duration || of(hasAudio && ordered.generateAudio).creditsPerSecond > 0) &&
          !(isSilent && silent === undefined),
      });
      assert.equal(creditsCharged, charged);
      assert.deepEqual([state, creditsCharged - creditsRefunded], paid === undefined ? ['fail', 0] : ['success', paid]);
      const { balance } = await readBalanceAndEntries(database.db, { accountId, limit: 1 });
      assert.equal(balance - balanceBefore, charged - (paid ?? 0));
    }),
    runs(600),
  );
});

type Delivery = {
  readonly shortfall: (typeof shortfallPolicies)[number];
  readonly charged: number;
  /** The price of the video, at most as long as ordered. */
  readonly delivered: number;
  readonly isWhole: boolean;
  /** Each of its differences has a price. */
  readonly isPriced: boolean;
};

/** The rule on paper; undefined for a task that fails. */
function paidFor({ shortfall, charged, delivered, isWhole, isPriced }: Delivery): number | undefined {
  if (isWhole || shortfall === 'accept') return charged;
  return shortfall === 'refund' && isPriced && delivered < charged ? delivered : undefined;
}

function shaped({ widthPx, heightPx }: FrameSize, shape: 'ordered' | 'turned' | 'quartered' | 'doubled'): FrameSize {
  if (shape === 'turned') return { widthPx: heightPx, heightPx: widthPx };
  const factor = { ordered: 1, quartered: 0.5, doubled: 2 }[shape];
  return { widthPx: widthPx * factor, heightPx: heightPx * factor };
}
