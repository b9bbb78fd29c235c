import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { callbackContent, check } from './judge-evidence.ts';
import type { CreateAnswer, Evidence, FinalTask, SeenVideo, Wish } from './evidence.ts';

const done: FinalTask = {
  taskId: 'task-1',
  client: 0,
  nonce: 'wish-1-',
  model: 'videogen-2.0',
  state: 'success',
  failCode: null,
  creditsCharged: 132,
  creditsRefunded: 0,
  hasCallback: true,
  createdAt: 1_000,
  generationStartedAt: 2_000,
  sha256: 'abc',
  completedAt: 9_000,
};
const failed: FinalTask = { ...done, state: 'fail', failCode: 'internal', creditsRefunded: 132 };
const ok: CreateAnswer = { status: 200, msg: 'success', taskId: 'task-1', creditsCharged: 132, api: 0, atMs: 2_000 };
const refused: CreateAnswer = { ...ok, status: 402, msg: 'too low', taskId: undefined, creditsCharged: undefined };
const withdrawn: CreateAnswer = { ...refused, status: 503, msg: 'should it have been accepted, it is withdrawn' };
const unavailable: CreateAnswer = { ...refused, status: 503, msg: 'nothing was charged' };
const silent: CreateAnswer = { ...refused, status: undefined, msg: '' };
const wish: Wish = {
  nonce: 'wish-1-',
  client: 0,
  hasKey: false,
  charge: 132,
  end: 'success',
  answers: [ok],
};

const noPayments: Evidence['payments'] = { sessions: [], topUps: [], ungranted: [], ordered: [], forgeries: [] };
const calm: Evidence['damage'] = { stopped: new Set(), outages: [], fullDisks: [], missed: [] };
const video: SeenVideo = { seconds: 4, hasSound: true, isUpright: false, widthPx: 1280 };

/** The evidence of a sound run with one task; each test breaks one thing about it. */
function evidenceOf(task: FinalTask | undefined, change: Partial<Evidence> = {}): Evidence {
  const isSuccess = task?.state === 'success';
  return {
    wishes: [wish],
    tasks: task === undefined ? [] : [task],
    callbacks:
      task === undefined
        ? []
        : [{ taskId: 'task-1', isSigned: true, isAccepted: true, content: callbackContent(task) }],
    setbacks: [],
    videos: new Map(isSuccess ? [['task-1', video]] : []),
    ledger: [],
    balances: [{ accountId: 'a', opened: 1_000, now: isSuccess ? 868 : 1_000 }],
    codes: [],
    payments: noPayments,
    caps: [],
    kindJobs: new Map(),
    unsettledJobs: 0,
    damage: calm,
    processes: { ended: [], unruly: [], left: [] },
    apisHurtAt: [[]],
    ...change,
  };
}

const shortOrder: Wish['shortOrder'] = {
  policy: 'refund',
  ordered: { seconds: 4, hasSound: true, isUpright: false },
  film: 'brief',
};
const answered = (hasKey: boolean, ...answers: readonly CreateAnswer[]) => ({ wishes: [{ ...wish, hasKey, answers }] });

describe('the checks after chaos find nothing wrong with', () => {
  const sound: Readonly<Record<string, Evidence>> = {
    'a task that succeeded': evidenceOf(done),
    'a code of one of two accounts, and a cap that is reached': evidenceOf(done, {
      balances: [{ accountId: 'a', opened: 1_000, now: 873 }],
      codes: [{ credits: 5, winners: [0], unanswered: 0 }],
      caps: [{ client: 0, credits: 132, spent: 132 }],
    }),
    'a task that failed': evidenceOf(failed, { wishes: [{ ...wish, end: 'internal' }] }),
    'a refusal without a task': evidenceOf(undefined, answered(false, refused)),
    'a 503 behind which there is nothing': evidenceOf(undefined, answered(false, unavailable)),
    'a 503 whose task was withdrawn': evidenceOf({ ...failed, failCode: 'cancelled' }, answered(false, withdrawn)),
    'no answer without a key, and a task': evidenceOf(done, answered(false, silent)),
    'no answer, and one task when repeated with the key': evidenceOf(done, answered(true, silent, withdrawn, ok)),
  };
  for (const [what, evidence] of Object.entries(sound)) {
    test(what, () => assert.deepEqual(check(evidence), { violations: [], excused: [] }));
  }
});

describe('the checks after chaos find', () => {
  const twice = callbackContent(failed);
  const [callback] = evidenceOf(done).callbacks;
  assert.ok(callback);
  const broken: Readonly<Record<string, readonly [Evidence, RegExp]>> = {
    'a 200 without a task': [evidenceOf(undefined), /answered 200, and there is no task/],
    'two tasks for one wish': [evidenceOf(done, { tasks: [done, { ...done, taskId: 'task-2' }] }), /became 2 tasks/],
    'a 200 that names another task': [
      evidenceOf(done, answered(true, { ...ok, taskId: 'x' })),
      /answered x, and is task/,
    ],
    'a charge that was not announced': [
      evidenceOf(done, answered(true, { ...ok, creditsCharged: 99 })),
      /cost 99 or 132/,
    ],
    'a task behind a refusal': [evidenceOf(done, answered(false, refused)), /was refused, and is task/],
    'a task behind "nothing was charged"': [
      evidenceOf(
        { ...failed, failCode: 'cancelled' },
        {
          ...answered(false, unavailable),
          damage: { ...calm, stopped: new Set(['task-1']) },
        },
      ),
      /was refused, and is task/,
    ],
    'a charged task behind a 503': [evidenceOf(done, answered(false, withdrawn)), /answered 503, and is task/],
    'a key that never got an answer': [evidenceOf(undefined, answered(true, silent, unavailable)), /never answered/],
    'a task that failed for no reason of its own': [evidenceOf(failed), /had to end in success, and did in internal/],
    'a task without a request': [evidenceOf(done, { wishes: [] }), /never requested/],
    'a task without an end': [evidenceOf({ ...done, state: 'generating', completedAt: null }), /still generating/],
    'a failed task without its refund': [
      evidenceOf({ ...failed, creditsRefunded: 0 }, { wishes: [{ ...wish, end: 'internal' }] }),
      /got 0 credits back, not 132/,
    ],
    'a refund of a success': [evidenceOf({ ...done, creditsRefunded: 132 }), /got 132 credits back, not 0/],
    'a callback that never came': [evidenceOf(done, { callbacks: [] }), /never called back/],
    'a callback that was only ever refused': [
      evidenceOf(done, { callbacks: [{ ...callback, isAccepted: false }] }),
      /never called back/,
    ],
    'a bad signature': [evidenceOf(done, { callbacks: [{ ...callback, isSigned: false }] }), /no valid signature/],
    'two callbacks that contradict each other': [
      evidenceOf(done, { callbacks: [callback, { ...callback, content: twice }] }),
      /instead of/,
    ],
    'a callback without a callback URL': [
      evidenceOf({ ...done, hasCallback: false }),
      /called back without a callback URL/,
    ],
    'a video that does not play': [
      evidenceOf(done, { videos: new Map([['task-1', 'cut']]) }),
      /video of task task-1: cut/,
    ],
    'a video of another size': [
      evidenceOf(done, { videos: new Map([['task-1', { ...video, widthPx: 640 }]]) }),
      /video of task task-1: it is 640 px wide/,
    ],
    'a short video that its customer paid in full': [
      evidenceOf(done, { wishes: [{ ...wish, shortOrder }], videos: new Map([['task-1', { ...video, seconds: 2 }]]) }),
      /cost 132 credits for 2 s, not 10/,
    ],
    'a full disk that stays unused': [
      evidenceOf(done, { damage: { ...calm, fullDisks: [{ name: 'log', wasNoticed: true, isUsable: false }] } }),
      /disk of the log has space again/,
    ],
    'a process that ended without a cause': [
      evidenceOf(done, { processes: { ended: ['API 1 ended with 1'], unruly: [], left: [] } }),
      /API 1 ended with 1, and nothing had killed it/,
    ],
    'a video that was never checked': [evidenceOf(done, { videos: new Map() }), /never checked/],
    'a state that went back': [
      evidenceOf(done, { setbacks: ['task task-1 was success, and then fail'] }),
      /and then fail/,
    ],
    'a balance that does not add up': [
      evidenceOf(done, { balances: [{ accountId: 'a', opened: 1_000, now: 1_000 }] }),
      /leave 868/,
    ],
    'a code that was granted twice': [
      evidenceOf(done, { codes: [{ credits: 5, winners: [0, 1], unanswered: 0 }] }),
      /code 0 was granted to 2 accounts/,
    ],
    'a code whose credits are missing': [
      evidenceOf(done, { codes: [{ credits: 5, winners: [0], unanswered: 0 }] }),
      /has 868 credits, its codes, payments and successful tasks leave 873/,
    ],
    'a redemption without an answer': [
      evidenceOf(done, { codes: [{ credits: 5, winners: [1], unanswered: 1 }] }),
      /redemption of code 0 was never answered/,
    ],
    'a cap that was exceeded': [
      evidenceOf(done, { caps: [{ client: 0, credits: 131, spent: 132 }] }),
      /account 0 spent 132 credits under a cap of 131/,
    ],
    'a fault that was not injected': [
      evidenceOf(done, { damage: { ...calm, missed: ['Temporal unreachable for 120 s'] } }),
      /the fault was not injected: Temporal unreachable/,
    ],
    'books that do not add up': [
      evidenceOf(done, {
        ledger: [{ rule: 'task_has_its_charge', accountId: 'a', entryId: undefined, taskId: 't', detail: 'no entry' }],
      }),
      /task_has_its_charge, no entry/,
    ],
  };
  for (const [what, [evidence, sentence]] of Object.entries(broken)) {
    test(what, () => assert.match(check(evidence).violations.join('\n'), sentence));
  }

  test('excuses a charged task behind a 503 only when its API was hurt before it could withdraw it', () => {
    const evidence = evidenceOf(done, answered(false, withdrawn));
    const hurtAt = (atMs: number) => check({ ...evidence, apisHurtAt: [[atMs]] });
    assert.deepEqual([hurtAt(5_000).violations.length, hurtAt(5_000).excused.length], [0, 1]);
    assert.equal(hurtAt(500).violations.length, 1, 'hurt before it answered');
    assert.equal(hurtAt(9_500).violations.length, 1, 'hurt after the task had ended');
  });
});
