import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FinalTask, SeenVideo } from './evidence.ts';
import { judgeShortResult } from './judge-short-results.ts';
import { deliveredOf, dueFor, type Film, filmNames, films, type ShortOrder } from '../faults/short-results.ts';

const ordered: Film = { seconds: 5, hasSound: true, isUpright: false };
const order = (change: Partial<ShortOrder> = {}): ShortOrder => ({
  policy: 'refund',
  ordered,
  film: 'brief',
  ...change,
});
const seen = (film: Film): SeenVideo => ({ ...film, widthPx: 1280 });
const { whole, brief, silent, upright } = films;
const briefAndSilent = films['brief and silent'];

const task: FinalTask = {
  taskId: 'task-1',
  client: 0,
  nonce: 'wish-1-',
  model: 'own-short-refund',
  state: 'success',
  failCode: null,
  hasCallback: false,
  creditsCharged: 25,
  creditsRefunded: 15,
  createdAt: 1_000,
  generationStartedAt: 2_000,
  completedAt: 9_000,
  sha256: 'abc',
};
const refunded = (creditsRefunded: number) => ({ ...task, creditsRefunded });
const judged = (final: FinalTask, one: ShortOrder, video: SeenVideo | string | undefined) =>
  judgeShortResult(final, one, video).join('\n');

test('the rule for short results says for each policy and film what is due', () => {
  const dues = (policy: ShortOrder['policy'], of = ordered) =>
    filmNames.map((film) => dueFor(policy, of, deliveredOf({ ordered: of, film })));
  // whole, brief, silent, brief and silent, upright
  assert.deepEqual(dues('fail'), [25, undefined, undefined, undefined, undefined]);
  assert.deepEqual(dues('refund'), [25, 10, 15, 6, undefined]);
  assert.deepEqual(dues('accept'), [25, 25, 25, 25, 25]);
  const silentOrder = { ...ordered, hasSound: false };
  assert.deepEqual(dues('refund', silentOrder), [15, 6, 15, 6, undefined]);
  assert.deepEqual(dues('fail', { ...ordered, isUpright: true }), [undefined, undefined, undefined, undefined, 25]);
});

describe('the check of short results finds nothing wrong with', () => {
  const sound = {
    'the difference of the seconds': judged(refunded(15), order(), seen(brief)),
    'the difference of the sound': judged(refunded(10), order({ film: 'silent' }), seen(silent)),
    'the difference of both': judged(refunded(19), order({ film: 'brief and silent' }), seen(briefAndSilent)),
    'a longer film at the ordered price': judged(refunded(0), order({ film: 'whole' }), seen(whole)),
    'the full price where the model declares it': judged(refunded(0), order({ policy: 'accept' }), seen(brief)),
    'a film that could not be fetched, which is another finding': judged(refunded(0), order(), 'cut'),
  };
  for (const [what, verdict] of Object.entries(sound)) test(what, () => assert.equal(verdict, ''));
});

describe('the check of short results finds', () => {
  const broken = {
    'a short film at the full price': [judged(refunded(0), order(), seen(brief)), /cost 25 credits for 2 s, not 10$/],
    'a refund that is too high': [judged(refunded(16), order(), seen(brief)), /cost 9 credits for 2 s, not 10$/],
    'a silent film at the price of sound': [
      judged(refunded(0), order({ film: 'silent' }), seen(silent)),
      /cost 25 credits for 6 s, silent, not 15$/,
    ],
    'a short film of a model that has to fail': [
      judged(refunded(15), order({ policy: 'fail' }), seen(brief)),
      /\(shortfall: fail, ordered: 5 s\) succeeded with 2 s$/,
    ],
    'a film of another ratio': [
      judged(refunded(0), order({ film: 'upright' }), seen(upright)),
      /succeeded with 6 s, upright$/,
    ],
    'a partial refund where the model accepts': [
      judged(refunded(15), order({ policy: 'accept' }), seen(brief)),
      /cost 10 credits for 2 s, not 25$/,
    ],
    'the film of another task': [judged(refunded(0), order(), seen(whole)), /delivered 6 s; its upstream made 2 s$/],
  } as const;
  for (const [what, [verdict, sentence]] of Object.entries(broken)) test(what, () => assert.match(verdict, sentence));
});
