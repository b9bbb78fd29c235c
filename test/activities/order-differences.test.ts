import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { wireActivities, type WorkerParts } from '../../src/run/main/wire-activities.ts';
import { resultKeysOf } from '../../activities/task-file-keys-and-deletion.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listTaskEntries } from '../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { listSpendCapsOfAccount, setSpendCaps } from '../../src/accounts/limits/spend-caps.ts';
import type { VideoFacts } from '../../src/media/video/check-and-measure-video.ts';
import type { ServiceEvent } from '../../src/run/metrics/service-event.ts';
import type { Model, ShortfallPolicy } from '../../src/catalogue/models/model-type-and-name-lookup.ts';
import type { CataloguePrice } from '../../src/catalogue/prices/model-prices.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import { standardModelInput, type TaskInput } from '../../src/catalogue/input/task-input.ts';
import { taskTerms } from '../../src/tasks/accept/task-terms-and-request-fingerprint.ts';
import { intendOwnMachineJob } from '../../src/tasks/jobs/job-creates.ts';
import { succeedProviderJob } from '../../src/tasks/jobs/job-ends.ts';
import { failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { assertMeasured } from '../support/assert-since.ts';
import { recordLog } from '../support/log-lines.ts';
import { workerParts } from '../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { insertBackdatedPrice } from '../support/tasks/backdated-price.ts';
import { createFakeUpstream } from '../support/tasks/fake-upstream.ts';
import { interruptedParts } from '../support/processes/dying-worker-parts.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';
import { madeUpMeasures, taskParam } from '../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
let folder: string;
let parts: WorkerParts;
const events: ServiceEvent[] = [];
const { log, lines } = recordLog();

before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'orders', credits: 1_000_000 });
  folder = await mkdtemp(join(tmpdir(), 'videogen-orders-'));
  const world = workerParts(database.db, folder, [createFakeUpstream()]);
  parts = { ...world, log, events: { emit: (event) => void events.push(event) } };
});

after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  await rm(folder, { recursive: true, force: true });
  assert.deepEqual(violations, []);
});

const amounts = (creditsPerSecond: number, creditsPerVideo = 0) => [{ creditsPerSecond, creditsPerVideo, fromMs: 0 }];
/** 41 credits a second with sound, 30 without, and 5 for the video. */
const bySound: readonly CataloguePrice[] = [
  { name: 'silent', when: { generateAudio: false }, amounts: amounts(30, 5) },
  { name: 'standard', when: {}, amounts: amounts(41, 5) },
];
const bySecond: readonly CataloguePrice[] = [{ name: 'standard', when: {}, amounts: amounts(41) }];
const byVideo: readonly CataloguePrice[] = [{ name: 'standard', when: {}, amounts: amounts(0, 500) }];

type Order = {
  readonly shortfall?: ShortfallPolicy;
  readonly prices?: readonly CataloguePrice[];
  readonly model?: string;
};

/** Accepts a task for 15 s with sound, 720p and 16:9, unless the input says otherwise. */
async function order({ shortfall, prices = bySecond, model: name = 'sold' }: Order, input: Partial<TaskInput> = {}) {
  const terms = { input: standardModelInput, prices, providers: [], deadlineMs: 60_000 };
  const model: Model = { model: name, title: name, ...terms, ...(shortfall && { shortfall }) };
  const param = { ...taskParam('as ordered', { duration: 15, ...input }), model: name };
  const taskId = uuidv7();
  const accepted = await acceptTaskAlone(database.db, { taskId, accountId, ...taskTerms(model, param) });
  assert.equal(accepted.kind, 'accepted');
  return taskId;
}

/** A film of exactly the order of `order`. */
const whole: VideoFacts = { ...madeUpMeasures, durationSeconds: 15 };

function complete(taskId: string, facts: Partial<VideoFacts>, process = parts) {
  const measured = { ...whole, ...facts };
  const { video: videoKey, poster: posterKey } = resultKeysOf(taskId, measured.sha256);
  const end = { taskId, result: { ...measured, videoKey, posterKey } };
  return silentActivity({ workflowId: taskId }, () => wireActivities(process).main.completeTask(end));
}

async function fateOf(taskId: string) {
  const { state, creditsCharged, creditsRefunded, failure } = (await findTask(database.db, taskId)) ?? assert.fail();
  return { state, paid: creditsCharged - creditsRefunded, ...(failure !== undefined && { failMsg: failure.failMsg }) };
}

const [tall, small] = [
  { widthPx: 720, heightPx: 1280 },
  { widthPx: 832, heightPx: 480 },
];
const notAsOrdered = (what: string) => ({
  state: 'fail',
  paid: 0,
  failMsg: `The generated video is not as ordered: ${what}.`,
});

for (const [what, facts, message] of [
  ['1.2 s of 15 s', { durationSeconds: 1.2 }, '1.2 s instead of 15 s'],
  ['just too short', { durationSeconds: 14.49 }, '14.5 s instead of 15 s'],
  ['silent', { hasAudio: false }, 'no sound instead of sound'],
  ['upright', tall, '720 × 1280 pixels instead of 16:9'],
  ['a little too small', { widthPx: 1136, heightPx: 640 }, '1136 × 640 pixels instead of 720p'],
  ['too small', small, '832 × 480 pixels instead of 720p'],
  ['short and silent', { durationSeconds: 5, hasAudio: false }, '5.0 s instead of 15 s, no sound instead of sound'],
] as const)
  test(`a video that is ${what} fails with result_invalid and a full refund, which says what was ordered`, async () => {
    const taskId = await order({});
    assert.deepEqual(await complete(taskId, facts), { state: 'fail', failCode: 'result_invalid', hasCallback: false });
    assert.deepEqual(await fateOf(taskId), notAsOrdered(message));
    assert.equal((await findTask(database.db, taskId))?.failure?.failCode, 'result_invalid');
  });

for (const [what, facts] of [
  ['half a second shorter', { durationSeconds: 14.5 }],
  ['of a size in multiples of 16', { widthPx: 1344, heightPx: 768 }],
  ['of a size in multiples of 32', { widthPx: 1216, heightPx: 704 }],
  ['longer', { durationSeconds: 19 }],
  ['larger', { widthPx: 1920, heightPx: 1080 }],
] as const)
  test(`a video that is ${what} is delivered at the full price`, async () => {
    const taskId = await order({});
    await complete(taskId, facts);
    assert.deepEqual(await fateOf(taskId), { state: 'success', paid: 615 });
  });

for (const [what, input, facts] of [
  ['silence', { generateAudio: false }, { hasAudio: false }],
  ['any ratio for adaptive', { ratio: 'adaptive' }, tall],
  ['the ratio of its first frame', { firstFrameUrl: 'https://example.com/tall.jpg' }, tall],
  ['the ratio of its image', { imageUrls: ['https://example.com/tall.jpg'] }, tall],
] as const)
  test(`${what} is as ordered`, async () => {
    const taskId = await order({}, input);
    await complete(taskId, facts);
    assert.deepEqual(await fateOf(taskId), { state: 'success', paid: 615 });
  });

for (const [what, prices, facts, paid] of [
  ['the seconds that it has', bySecond, { durationSeconds: 5.04 }, 205],
  ['its seconds and the video', bySound, { durationSeconds: 5.04 }, 210],
  ['the price without sound', bySound, { hasAudio: false }, 455],
  ['fewer seconds without sound', bySound, { durationSeconds: 5.04, hasAudio: false }, 155],
] as const)
  test(`shortfall: refund charges ${what}, and refunds the rest with the success`, async () => {
    const taskId = await order({ shortfall: 'refund', prices });
    const { balance } = (await findAccount(database.db, accountId)) ?? assert.fail();
    await complete(taskId, facts);
    assert.deepEqual(await fateOf(taskId), { state: 'success', paid });
    const [charge, refund, ...others] = await listTaskEntries(database.db, taskId);
    assert.deepEqual([charge?.kind, refund?.kind, others], ['charge', 'partial_refund', []]);
    assert.equal(refund?.amount, -paid - (charge?.amount ?? 0));
    assert.equal(refund?.balanceAfter, balance + refund.amount);
    assert.match(refund?.reason ?? '', /delivered, .+ ordered/);
  });

for (const [what, prices, facts, message] of [
  ['another ratio', bySecond, tall, '720 × 1280 pixels instead of 16:9'],
  ['a smaller size', bySecond, small, '832 × 480 pixels instead of 720p'],
  ['silence where sound has no price', bySecond, { hasAudio: false }, 'no sound instead of sound'],
  ['fewer seconds where seconds have no price', byVideo, { durationSeconds: 5 }, '5.0 s instead of 15 s'],
  ['less than a second', bySecond, { durationSeconds: 0.4 }, '0.4 s instead of 15 s'],
] as const)
  test(`shortfall: refund refunds ${what} in full, because no price tells the difference`, async () => {
    const taskId = await order({ shortfall: 'refund', prices });
    await complete(taskId, facts);
    assert.deepEqual(await fateOf(taskId), notAsOrdered(message));
  });

test('shortfall: accept delivers everything at the full price', async () => {
  const taskId = await order({ shortfall: 'accept' });
  await complete(taskId, { ...tall, durationSeconds: 0.4, hasAudio: false });
  assert.deepEqual(await fateOf(taskId), { state: 'success', paid: 615 });
});

test('the price and the policy are those of the acceptance, whatever operators have changed since', async () => {
  const model = uuidv7();
  await insertBackdatedPrice(database.db, { model, accountId, creditsPerSecond: 10, fromMs: 0 });
  const taskId = await order({ shortfall: 'refund', prices: bySecond, model });
  await insertBackdatedPrice(database.db, { model, accountId, creditsPerSecond: 20, fromMs: Date.now() + 1 });
  await complete(taskId, { durationSeconds: 4 });
  assert.deepEqual(await fateOf(taskId), { state: 'success', paid: 40 });
});

test('a partial refund restores the caps that counted its charge', async () => {
  await setSpendCaps(database.db, accountId, { kind: 'account', id: accountId }, { total: 100_000_000 });
  const spent = async () => (await listSpendCapsOfAccount(database.db, accountId))[0]?.spent ?? 0;
  const spentBefore = await spent();
  await complete(await order({ shortfall: 'refund' }), { durationSeconds: 5 });
  assert.equal((await spent()) - spentBefore, 205);
  await setSpendCaps(database.db, accountId, { kind: 'account', id: accountId }, { total: null });
});

for (const [shortfall, paid] of [
  ['refund', 205],
  ['fail', 0],
] as const)
  test(`a worker that dies anywhere at a short video with shortfall: ${shortfall} settles it once`, async () => {
    for (let call = 0, hasDied = true; hasDied; call += 1) {
      for (const when of ['before', 'after'] as const) {
        const taskId = await order({ shortfall });
        const dying = interruptedParts(parts, { call, when });
        await complete(taskId, { durationSeconds: 5 }, dying.parts).catch(() => undefined);
        hasDied = dying.calls.length > call;
        const end = await complete(taskId, { durationSeconds: 5 });
        assert.equal(end.state, paid === 0 ? 'fail' : 'success');
        assert.equal((await fateOf(taskId)).paid, paid);
        assert.equal((await listTaskEntries(database.db, taskId)).length, 2);
      }
    }
  });

test('a short video of a task that was canceled meanwhile changes nothing, and its job is counted once as late', async () => {
  const taskId = await order({ shortfall: 'refund' });
  await intendOwnMachineJob(database.db, { taskId, ordinal: 1, provider: 'preview', jobId: taskId });
  await succeedProviderJob(database.db, taskId);
  await failAndRefund(database.db, taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
  events.length = 0;
  lines.length = 0;
  const end = await complete(taskId, { durationSeconds: 5 });
  assert.deepEqual([end.state, end.failCode], ['fail', 'cancelled']);
  assert.deepEqual(await complete(taskId, { durationSeconds: 5 }), end);
  const job = { provider: 'preview', pool: undefined, outcome: 'late_success' };
  assert.deepEqual(events, [{ kind: 'job_ended', job }]);
  const late = { level: 40, taskId, failCode: 'cancelled', msg: 'video finished after the refund; not delivered' };
  assert.deepEqual(lines, [late, late]);
  assert.deepEqual(
    (await listTaskEntries(database.db, taskId)).map(({ kind }) => kind),
    ['charge', 'refund'],
  );
});

test('the end of a task is counted once, with the duration of its statement', async () => {
  const taskId = await order({});
  events.length = 0;
  const startedAt = performance.now();
  await complete(taskId, {});
  await complete(taskId, {});
  const [stage, end, ...others] = events;
  assert.ok(stage?.kind === 'stage_ended' && end?.kind === 'task_ended');
  assert.deepEqual([stage.stage, end.task, others], ['end', await findTask(database.db, taskId), []]);
  assertMeasured(startedAt, stage.durationMs);
});

test('each difference is counted once, by what became of the video', async () => {
  const counted = async (policy: ShortfallPolicy, facts: Partial<VideoFacts>) => {
    const taskId = await order({ shortfall: policy });
    events.length = 0;
    await complete(taskId, facts);
    await complete(taskId, facts);
    return events.flatMap((event) => (event.kind === 'order_difference' ? `${event.aspect} ${event.outcome}` : []));
  };
  assert.deepEqual(await counted('fail', { durationSeconds: 5, hasAudio: false }), ['seconds failed', 'sound failed']);
  assert.deepEqual(await counted('refund', { durationSeconds: 5 }), ['seconds refunded']);
  assert.deepEqual(await counted('accept', tall), ['ratio accepted']);
  assert.deepEqual(await counted('fail', { durationSeconds: 20, widthPx: 1920, heightPx: 1080 }), [
    'seconds exceeded',
    'size exceeded',
  ]);
  assert.deepEqual(await counted('fail', {}), []);
});

test('a video that is not as ordered is logged with each difference, its refund, and what its jobs have cost', async () => {
  const { db } = database;
  for (const [shortfall, outcome, creditsRefunded] of [
    ['refund', 'refunded', 410],
    ['fail', 'failed', undefined],
  ] as const) {
    const taskId = await order({ shortfall });
    for (const ordinal of [1, 2, 3]) await intendOwnMachineJob(db, { taskId, ordinal, provider: 'preview' });
    const text = `update provider_jobs set cost_micros = ordinal * 10, cost_currency = 'USD' where task_id = $1 and ordinal > 1`;
    await db.run({ name: 'test-job-costs', text }, [taskId]);
    lines.length = 0;
    await complete(taskId, { durationSeconds: 5, widthPx: 1920, heightPx: 1080 });
    const differences = [
      { aspect: 'seconds', kind: 'short', ordered: '15 s', delivered: '5.0 s' },
      { aspect: 'size', kind: 'more', ordered: '720p', delivered: '1920 × 1080 pixels' },
    ];
    const costs = [20, 30].map((costMicros) => ({ costMicros, costCurrency: 'USD' }));
    const line = { level: 40, taskId, model: 'sold', outcome, differences, costs, msg: 'video not as ordered' };
    assert.deepEqual(lines, [{ ...line, ...(creditsRefunded !== undefined && { creditsRefunded }) }]);
  }
});
