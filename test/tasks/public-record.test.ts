import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Task } from '../../src/catalogue/tasks/task.ts';
import { newTaskRecord, noLinks, taskRecord } from '../../src/tasks/public-record.ts';
import { taskParam } from '../support/tasks/tasks.ts';

const param = taskParam('a boat');
const links = { resultUrls: ['https://media.test/video'] };
const result = {
  videoKey: 'video',
  posterKey: 'poster',
  sha256: '0'.repeat(64),
  bytes: 7,
  hasAudio: false,
  widthPx: 1280,
  heightPx: 720,
  durationSeconds: 4.00049,
  framesPerSecond: 23.9766,
};
const waiting: Task = {
  taskId: 'task',
  accountId: 'alice',
  param,
  state: 'waiting',
  priceName: 'standard',
  creditsCharged: 132,
  creditsRefunded: 0,
  failure: undefined,
  result: undefined,
  mediaDeletedAt: undefined,
  createdAt: 1e3,
  updatedAt: 2e3,
  generationStartedAt: undefined,
  completedAt: undefined,
};
const generating: Task = { ...waiting, state: 'generating', generationStartedAt: 1_500 };
const success: Task = { ...generating, state: 'success', completedAt: 4_000, result };
const failure = { failCode: 'timeout', failMsg: 'Too late.' } as const;
const fail: Task = { ...generating, state: 'fail', completedAt: 5_000, creditsRefunded: 131, failure };

const plain = {
  taskId: 'task',
  model: param.model,
  param,
  resultJson: noLinks,
  failCode: null,
  failMsg: null,
  progress: 0,
  creditsCharged: 132,
  creditsRefunded: 0,
  costTime: null,
  createTime: 1e3,
  updateTime: 2e3,
  completeTime: null,
};
const video = { width: 1_280, height: 720, seconds: 4, framesPerSecond: 23.977, hasAudio: false, bytes: 7 };
const ended = { ...plain, state: 'success', progress: 100, costTime: 2_500, completeTime: 4_000 };

for (const [title, task, record] of [
  ['waits', waiting, { ...plain, state: 'waiting' }],
  ['is queuing', { ...waiting, state: 'queuing' }, { ...plain, state: 'queuing' }],
  ['is generated', generating, { ...plain, state: 'generating', progress: 37 }],
  ['has succeeded', success, { ...ended, resultJson: { ...links, video } }],
  ['has succeeded, without measures', { ...success, result: undefined }, { ...ended, resultJson: links }],
  [
    'has failed',
    fail,
    { ...plain, ...failure, state: 'fail', creditsRefunded: 131, costTime: 3_500, completeTime: 5_000 },
  ],
  [
    'has failed before its generation',
    { ...fail, generationStartedAt: undefined },
    { ...plain, ...failure, state: 'fail', creditsRefunded: 131, completeTime: 5_000 },
  ],
] as const) {
  test(`the record of a task that ${title} has each value under its name`, () => {
    assert.deepEqual(taskRecord(task, 37.9, links), record);
  });
}

test('the progress of a live task is a whole number from 0 to 99', () => {
  const shown = [-1, 0, 98.9, 99, 100].map((progress) => taskRecord(generating, progress, noLinks).progress);
  assert.deepEqual(shown, [0, 0, 98, 99, 99]);
});

test('the record of a new task is that of one that waits', () => {
  const record = newTaskRecord({ taskId: 'task', param, creditsCharged: 132 }, 3_000);
  assert.deepEqual(record, { ...plain, state: 'waiting', createTime: 3_000, updateTime: 3_000 });
});
