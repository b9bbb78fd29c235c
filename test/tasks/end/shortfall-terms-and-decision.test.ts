import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import { defaultModels, type Model } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { OrderDifference } from '../../../src/media/video/compare-with-order.ts';
import {
  decideShortfall,
  findTaskWithShortfallTerms,
  shortfallTerms,
  type ShortfallTerms,
} from '../../../src/tasks/end/shortfall-terms-and-decision.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'orders', credits: 0 });
});
after(() => database.close());

const amounts = (creditsPerSecond: number, creditsPerVideo = 0) => ({ creditsPerSecond, creditsPerVideo, fromMs: 0 });
const [preview] = defaultModels;
const modelWith = (changes: Partial<Model>): Model => ({ ...(preview ?? assert.fail()), ...changes });
const input = { ...taskParam('a boat').input, generateAudio: true };

test('the terms of a task are those of its model, with the prices of its order and of the same one without sound', () => {
  assert.deepEqual(standardModelInput, preview?.input);
  const withSound = { name: 'with sound', when: { generateAudio: true }, amounts: [amounts(40)] };
  const standard = { name: 'standard', when: {}, amounts: [amounts(30)] };
  const prices = [withSound, standard];
  const [ofSound, ofStandard] = [
    { name: 'with sound', ...amounts(40) },
    { name: 'standard', ...amounts(30) },
  ];
  assert.equal(shortfallTerms(modelWith({ prices }), input), undefined);
  assert.equal(shortfallTerms(modelWith({ prices, shortfall: 'fail' }), input), undefined);
  assert.deepEqual(shortfallTerms(modelWith({ prices, shortfall: 'accept' }), input), { policy: 'accept' });
  const model = modelWith({ prices, shortfall: 'refund' });
  assert.deepEqual(shortfallTerms(model, input), {
    policy: 'refund',
    prices: [ofSound, ofStandard],
    silentPrices: [ofStandard],
  });
  const silent = { policy: 'refund', prices: [ofStandard] };
  assert.deepEqual(shortfallTerms(model, { ...input, generateAudio: false }), silent);
  assert.deepEqual(shortfallTerms(modelWith({ prices: [standard], shortfall: 'refund' }), input), silent);
});

const prices = [{ name: 'standard', ...amounts(30, 12) }];
const short = (aspect: OrderDifference['aspect'], ordered = 'so', delivered = 'other'): OrderDifference => ({
  aspect,
  kind: 'short',
  ordered,
  delivered,
});

test('a task is found with its whole record and the terms that it stores', () =>
  rolledBack(database.db, async (db) => {
    const terms: ShortfallTerms = { policy: 'refund', prices };
    const [without, taskId] = [
      await insertTask(db, accountId),
      await insertTask(db, accountId, { shortfall: JSON.stringify(terms) }),
    ];
    assert.deepEqual(await findTaskWithShortfallTerms(db, taskId), {
      ...(await findTask(db, taskId)),
      shortfall: terms,
    });
    assert.deepEqual(await findTaskWithShortfallTerms(db, without), {
      ...(await findTask(db, without)),
      shortfall: undefined,
    });
    assert.equal(await findTaskWithShortfallTerms(db, accountId), undefined);
  }));

test('a video that falls short is accepted, refunded by what its seconds and its sound would have cost, or fails', () =>
  rolledBack(database.db, async (db) => {
    const decide = async (
      terms: ShortfallTerms | undefined,
      differences: readonly OrderDifference[],
      seconds: number,
      creditsCharged = 4 * 30 + 12,
    ) => {
      const taskId = await insertTask(db, accountId, {
        param: JSON.stringify({ ...taskParam('a boat') }),
        credits_charged: creditsCharged,
        ...(terms !== undefined && { shortfall: JSON.stringify(terms) }),
      });
      const task = (await findTaskWithShortfallTerms(db, taskId)) ?? assert.fail();
      return decideShortfall(db, task, { short: differences, seconds });
    };
    const failed = { kind: 'failed' };
    const refund = (credits: number, reason: string) => ({ kind: 'refunded', credits, reason });
    const terms: ShortfallTerms = { policy: 'refund', prices };
    const silentPrices = [{ name: 'silent', ...amounts(20, 2) }];
    const bySound: ShortfallTerms = { ...terms, silentPrices };
    const [seconds, sound] = [short('seconds', '4 s', '3 s'), short('sound', 'sound', 'none')];
    assert.deepEqual(await decide(undefined, [seconds], 3), failed);
    assert.deepEqual(await decide({ policy: 'accept' }, [seconds, short('ratio')], 0), { kind: 'accepted' });
    assert.deepEqual(await decide(terms, [seconds], 3), refund(30, '3 s delivered, 4 s ordered'));
    assert.deepEqual(await decide(terms, [seconds], 1), refund(90, '3 s delivered, 4 s ordered'));
    assert.deepEqual(await decide(terms, [seconds], 0), failed);
    assert.deepEqual(await decide(bySound, [seconds], 3), refund(30, '3 s delivered, 4 s ordered'));
    assert.deepEqual(await decide(bySound, [sound], 4), refund(50, 'none delivered, sound ordered'));
    assert.deepEqual(await decide(bySound, [sound], 9), refund(50, 'none delivered, sound ordered'), 'none costs more');
    assert.deepEqual(
      await decide(bySound, [seconds, sound], 3),
      refund(70, '3 s delivered, 4 s ordered; none delivered, sound ordered'),
    );
    assert.deepEqual(await decide(terms, [sound], 4), failed, 'it has no price without sound');
    for (const aspect of ['ratio', 'size'] as const) {
      assert.deepEqual(await decide(terms, [short(aspect)], 3), failed, aspect);
      assert.deepEqual(await decide(terms, [seconds, short(aspect)], 3), failed, aspect);
    }
    const perVideo = [{ name: 'standard', ...amounts(0, 100) }];
    assert.deepEqual(
      await decide({ policy: 'refund', prices: perVideo }, [seconds], 3),
      failed,
      'seconds cost nothing',
    );
    const fewer = refund(32, 'none delivered, sound ordered');
    assert.deepEqual(await decide({ ...terms, silentPrices: perVideo }, [sound], 4), fewer);
    assert.deepEqual(await decide(terms, [seconds], 3, 102), failed, 'nothing is left to refund');
    assert.deepEqual(await decide(terms, [seconds], 3, 103), refund(1, '3 s delivered, 4 s ordered'));
  }));
