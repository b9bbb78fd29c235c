import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Evidence, FinalTask } from './evidence.ts';
import { judgeJobs } from './judge-jobs.ts';
import type { PaidJob } from './paid-upstream.ts';
import { paidVideo, sha256Of } from './paid-video.ts';

const firstVideo = sha256Of(paidVideo('paid-1', 1));
const otherVideo = sha256Of(paidVideo('paid-1', 2));
const task: FinalTask = {
  taskId: 'task-1',
  client: 0,
  nonce: 'wish-1-',
  model: 'videogen-2.0',
  state: 'success',
  failCode: null,
  hasCallback: false,
  creditsCharged: 20,
  creditsRefunded: 0,
  createdAt: 1_000,
  generationStartedAt: 2_000,
  completedAt: 9_000,
  sha256: firstVideo,
};
const failed: FinalTask = { ...task, state: 'fail', failCode: 'timeout', creditsRefunded: 20, sha256: null };
const job: PaidJob = {
  jobId: 'paid-1',
  taskId: 'task-1',
  manner: 'answers in time',
  madeAt: 2_000,
  state: 'ended',
  endedAt: 6_000,
  cancels: 0,
  told: [
    {
      atMs: 7_000,
      end: 'succeeded',
    },
  ],
  served: [
    {
      atMs: 7100,
      sha256: firstVideo,
    },
  ],
};
const stopped: PaidJob = { ...job, state: 'cancelled', endedAt: 9_000, cancels: 1, told: [], served: [] };

function judged(final: FinalTask, jobs: readonly PaidJob[], change: Partial<Evidence> = {}): string {
  const damage = { hurts: [], stopped: new Set<string>(), outages: [] };
  const books = { ledger: [], balances: [], bookedJobs: [{ taskId: 'task-1', jobId: 'paid-1', outcome: 'success' }] };
  const nothing = { wishes: [], callbacks: [], setbacks: [], videos: new Map(), apisHurtAt: [], unsettledJobs: 0 };
  return judgeJobs({ ...nothing, ...books, kindJobs: new Map(), tasks: [final], jobs, damage, ...change }).join('\n');
}

const hurtAt = (fromMs: number, untilMs: number): Partial<Evidence> => ({
  damage: { hurts: [{ fromMs, untilMs }], stopped: new Set(), outages: [] },
});
const otherServed: PaidJob = { ...job, served: [...job.served, { atMs: 7_200, sha256: otherVideo }] };

describe('the checks of the jobs that were paid for find nothing wrong with', () => {
  const sound = {
    'one job, whose first video was delivered': judged(task, [otherServed]),
    'a task of a provider that is not paid': judged(task, []),
    'a job that was stopped with its task': judged(failed, [stopped]),
    'another video, when a worker was hurt after the first was told of': judged(
      { ...task, sha256: otherVideo },
      [otherServed],
      hurtAt(7_150, 7_160),
    ),
    'a job that would not stop, and was asked to': judged(failed, [
      { ...job, manner: 'succeeds after the deadline', endedAt: 12_000, cancels: 1 },
    ]),
  };
  for (const [what, violations] of Object.entries(sound)) test(what, () => assert.equal(violations, ''));
});

describe('the checks of the jobs that were paid for find', () => {
  const broken: Readonly<Record<string, readonly [string, RegExp]>> = {
    'a second job': [judged(task, [job, { ...job, jobId: 'paid-2' }]), /paid for 2 jobs/],
    'a job for nobody': [judged(task, [{ ...job, taskId: 'task-2' }]), /made for no task/],
    'a job that still runs': [judged(failed, [{ ...stopped, state: 'running', endedAt: undefined }]), /still runs/],
    'a job that ran on for minutes': [judged(failed, [{ ...stopped, endedAt: 130_000 }]), /ran on for 121 s/],
    'a job that nobody asked to stop': [
      judged(failed, [{ ...job, manner: 'succeeds after the deadline', endedAt: 12_000 }]),
      /never asked to stop/,
    ],
    'another video than the first': [
      judged({ ...task, sha256: otherVideo }, [otherServed], hurtAt(1_000, 1_500)),
      /not the first/,
    ],
    'a video from nowhere': [judged({ ...task, sha256: 'abc' }, [job]), /never served/],
    'a job that ended late and is not in our books': [judged(failed, [job], { bookedJobs: [] }), /do not say how/],
  };
  for (const [what, [violations, sentence]] of Object.entries(broken)) {
    test(what, () => assert.match(violations, sentence));
  }
});
