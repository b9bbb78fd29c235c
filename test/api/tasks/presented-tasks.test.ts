import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentCallback, presentOperatorCallback } from '../../../src/api/callbacks/callback-view.ts';
import {
  presentOperatorTaskDetail,
  presentTaskDetail,
  type TaskDetailSources,
  taskStepsOf,
} from '../../../src/api/tasks/task-detail-view.ts';
import { presentListedTask, presentOperatorListedTask } from '../../../src/api/tasks/task-view.ts';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import { signVideoAndLastFrameLinks } from '../../../src/media/store/signed-link.ts';
import type { Delivery } from '../../../src/tasks/callbacks/deliveries.ts';
import type { ProviderJob } from '../../../src/tasks/jobs/provider-jobs.ts';
import { taskRecord } from '../../../src/tasks/public-record.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

// How a task is shown in lists and in detail. No two values of a row are equal, so that none can stand for another.

const resultStore = { link: (key: string) => `https://media.example/${key}` };
const task: Task = {
  taskId: 'task',
  accountId: 'account',
  param: taskParam('A lighthouse', { duration: 8, resolution: '1080p', ratio: '9:16', generateAudio: false }),
  state: 'success',
  priceName: 'standard',
  creditsCharged: 300,
  creditsRefunded: 20,
  failure: undefined,
  result: {
    videoKey: 'video',
    posterKey: 'poster',
    lastFrameKey: 'last',
    widthPx: 1080,
    heightPx: 1920,
    durationSeconds: 8,
    framesPerSecond: 24,
    hasAudio: false,
    bytes: 99,
    sha256: 'digest',
  },
  mediaDeletedAt: undefined,
  createdAt: 10,
  updatedAt: 70,
  generationStartedAt: 20,
  completedAt: 50,
};
const waiting: Task = {
  ...task,
  state: 'waiting',
  creditsRefunded: 0,
  result: undefined,
  generationStartedAt: undefined,
  completedAt: undefined,
};
const job: ProviderJob = {
  ordinal: 1,
  provider: 'gpu',
  pool: 'gpu/model',
  isIntended: true,
  jobId: 'job',
  handle: 'never shown',
  sentInput: undefined,
  config: 'never shown',
  outcome: 'success',
  isRepeatable: false,
  failure: { failCode: 'timeout', failMsg: 'It took too long.' },
  intendedAt: 21,
  submittedAt: 22,
  upstreamEndedAt: 39,
  endedAt: 40,
  costMicros: 123,
  costCurrency: 'EUR',
  costBasis: 'estimated',
  detail: 'its own words',
  ageMs: 456,
};
/** A slot that was reserved. */
const open: ProviderJob = {
  ...job,
  ordinal: 2,
  pool: undefined,
  jobId: undefined,
  outcome: undefined,
  failure: undefined,
  intendedAt: undefined,
  submittedAt: undefined,
  upstreamEndedAt: undefined,
  endedAt: undefined,
  costMicros: undefined,
  costCurrency: undefined,
  costBasis: undefined,
  detail: undefined,
};
const delivery: Delivery = {
  deliveryId: 'task',
  accountId: 'account',
  taskId: 'task',
  event: undefined,
  details: undefined,
  url: 'https://client.example/',
  dialect: 'native',
  state: 'delivered',
  redeliveries: 0,
  createdAt: 51,
  finishedAt: 60,
  dueAt: 61,
};
const record = taskRecord(task, 0, signVideoAndLastFrameLinks(resultStore, task));
const creator = { kind: 'key', id: 'key', name: 'name' } as const;
const previews = [{ url: 'https://client.example/a', previewUrl: 'https://media.example/a' }];
const sources: TaskDetailSources = {
  task,
  record,
  creator,
  previews,
  ahead: 3,
  accountName: 'studio',
  nowMs: 80,
  ledger: [
    {
      entryId: 1,
      taskId: 'task',
      priceName: 'standard',
      kind: 'charge',
      amount: -300,
      balanceAfter: 700,
      reason: undefined,
      createdAt: 11,
    },
  ],
  providerJobs: [open, job],
  delivery,
  attempts: [],
};
const deps = {
  resultStore,
  retentionMs: 1_000,
  temporalUiUrl: 'http://ui.example/namespaces/default/workflows?page=1',
};

const shown = {
  task: record,
  createdBy: creator,
  priceName: 'standard',
  posterUrl: 'https://media.example/poster',
  previews,
  mediaDeleteTime: 1_050,
  contentDeleteTime: null,
  steps: [
    { step: 'accepted', startTime: 10, endTime: 10 },
    { step: 'waited', startTime: 10, endTime: 20 },
    { step: 'generating', startTime: 20, endTime: 40 },
    { step: 'stored', startTime: 40, endTime: 50 },
    { step: 'succeeded', startTime: 50, endTime: 50 },
    { step: 'partially_refunded', startTime: 50, endTime: 50 },
    { step: 'callback', startTime: 51, endTime: 60 },
  ],
  ledger: [
    {
      entryId: 1,
      kind: 'charge',
      amount: -300,
      balanceAfter: 700,
      taskId: 'task',
      priceName: 'standard',
      reason: null,
      createTime: 11,
    },
  ],
  aheadOfOwn: 3,
};

test('the detail of a task has each value under its documented name', () => {
  assert.deepEqual(presentTaskDetail(deps, sources), { ...shown, callback: presentCallback(delivery, [], 80) });
});

test('the detail for operators adds the upstream jobs, the stored files and the workflow', () => {
  assert.deepEqual(presentOperatorTaskDetail(deps, sources), {
    ...shown,
    callback: presentOperatorCallback(delivery, []),
    operator: {
      accountId: 'account',
      accountName: 'studio',
      temporalUrl: 'http://ui.example/namespaces/default/workflows/task',
      files: { videoKey: 'video', posterKey: 'poster', lastFrameKey: 'last', sha256: 'digest' },
      providerJobs: [
        {
          ordinal: 2,
          provider: 'gpu',
          jobId: null,
          outcome: null,
          failCode: null,
          failMsg: null,
          ageMs: 456,
          pool: null,
          intendTime: null,
          submitTime: null,
          upstreamEndTime: null,
          endTime: null,
          costMicros: null,
          costCurrency: null,
          costBasis: null,
          detail: null,
        },
        {
          ordinal: 1,
          provider: 'gpu',
          jobId: 'job',
          outcome: 'success',
          failCode: 'timeout',
          failMsg: 'It took too long.',
          ageMs: 456,
          pool: 'gpu/model',
          intendTime: 21,
          submitTime: 22,
          upstreamEndTime: 39,
          endTime: 40,
          costMicros: 123,
          costCurrency: 'EUR',
          costBasis: 'estimated',
          detail: 'its own words',
        },
      ],
      differences: [],
    },
  });
});

test('what a task does not have is null', () => {
  const { operator, callback, mediaDeleteTime, posterUrl } = presentOperatorTaskDetail(
    { ...deps, temporalUiUrl: undefined },
    { ...sources, task: waiting, accountName: undefined, delivery: undefined },
  );
  assert.deepEqual([callback, mediaDeleteTime, posterUrl], [null, null, null]);
  assert.deepEqual([operator.accountName, operator.temporalUrl, operator.files], [null, null, null]);
  assert.equal(presentTaskDetail(deps, { ...sources, delivery: undefined }).callback, null);
});

test('a video that was deleted has no poster, and the time of its deletion', () => {
  const deleted = { ...task, mediaDeletedAt: 90, contentDeletedAt: 91 };
  const { mediaDeleteTime, contentDeleteTime, posterUrl } = presentTaskDetail(deps, { ...sources, task: deleted });
  assert.deepEqual([mediaDeleteTime, contentDeleteTime, posterUrl], [90, 91, null]);
});

for (const [what, one, jobs, expected] of [
  ['waits', waiting, [], 'accepted 10-10, waited 10-'],
  [
    'failed before its generation',
    { ...waiting, state: 'fail', creditsRefunded: 300, completedAt: 50 },
    [],
    'accepted 10-10, waited 10-50, failed 50-50, refunded 50-50',
  ],
  [
    'is generated',
    { ...waiting, state: 'generating', generationStartedAt: 20 },
    [open],
    'accepted 10-10, waited 10-20, generating 20-',
  ],
  [
    'is stored',
    { ...waiting, state: 'generating', generationStartedAt: 20 },
    [job],
    'accepted 10-10, waited 10-20, generating 20-40, stored 40-',
  ],
  [
    'succeeded without a job',
    { ...task, creditsRefunded: 0 },
    [],
    'accepted 10-10, waited 10-20, generating 20-50, succeeded 50-50',
  ],
  [
    'got one credit back',
    { ...task, creditsRefunded: 1 },
    [],
    'accepted 10-10, waited 10-20, generating 20-50, succeeded 50-50, partially_refunded 50-50',
  ],
] as const satisfies readonly (readonly [string, Task, readonly ProviderJob[], string])[]) {
  test(`a task that ${what} has these steps: ${expected}`, () => {
    const steps = taskStepsOf(one, jobs).map(({ step, startTime, endTime }) => `${step} ${startTime}-${endTime ?? ''}`);
    assert.equal(steps.join(', '), expected);
  });
}

test('a task of a list has its creator and poster, and for operators its account', async () => {
  const row = { ...task, contentDeletedAt: 91, createdBy: creator, accountName: 'studio' };
  const listDeps = { resultStore, progressOf: () => Promise.resolve(1) };
  const listed = { ...record, createdBy: creator, posterUrl: 'https://media.example/poster', contentDeleteTime: 91 };
  assert.deepEqual(await presentListedTask(listDeps, row), listed);
  const operator = { accountId: 'account', accountName: 'studio' };
  assert.deepEqual(await presentOperatorListedTask(listDeps, row), { ...listed, operator });
  const bare = { ...task, createdBy: undefined };
  assert.deepEqual(await presentOperatorListedTask(listDeps, bare), {
    ...listed,
    createdBy: null,
    contentDeleteTime: null,
    operator: { accountId: 'account', accountName: null },
  });
});
