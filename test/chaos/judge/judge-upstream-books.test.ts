import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { BookedJob } from '../../fakes/upstream-books.ts';
import type { FinalTask } from './evidence.ts';
import { judgeKinds } from './judge-upstream-books.ts';

const task: FinalTask = {
  taskId: 'task-1',
  client: 0,
  nonce: 'wish-1-',
  model: 'ark',
  state: 'success',
  failCode: null,
  hasCallback: false,
  creditsCharged: 12,
  creditsRefunded: 0,
  createdAt: 1_000,
  generationStartedAt: 2_000,
  completedAt: 9_000,
  sha256: 'abc',
};
const refunded: FinalTask = { ...task, state: 'fail', failCode: 'provider_unavailable', creditsRefunded: 12 };
const job: BookedJob = { id: 'job-1', prompt: 'wish-1- a film', state: 'succeeded' };

function judged(final: FinalTask, made: readonly BookedJob[], unsettledJobs = 0): string {
  return judgeKinds({ tasks: [final], kindJobs: new Map([[final.model, made]]), unsettledJobs }).join('\n');
}

const at = (model: string) => ({ ...task, model });
const died: BookedJob = { ...job, state: 'failed' };

describe('the checks of jobs at all kinds of upstreams find nothing wrong with', () => {
  const sound = {
    'one job that made the video': judged(task, [job]),
    'a refund without a job': judged(refunded, []),
    'a refund after a job that was lost': judged(refunded, [job]),
    'a model of our own that runs again after its server has died': judged(at('comfyui'), [died, job]),
    'a model that loses its run with the connection': judged(at('cog'), [job, job]),
  };
  for (const [what, verdict] of Object.entries(sound)) test(what, () => assert.equal(verdict, ''));
});

describe('the checks of jobs at all kinds of upstreams find', () => {
  const broken = {
    'two jobs for a task': [judged(task, [job, { ...job, id: 'job-2' }]), /was made more than once by ark/],
    'a job that is made anew after it was made': [judged(at('comfyui'), [job, died]), /more than once by comfyui/],
    'a video that was never made': [judged(task, [died]), /ark has made no video for it/],
    'a job for no task': [judged(task, [job, { ...job, prompt: 'wish-2- x' }]), /made job job-1 for no task/],
    'a job that still runs': [judged(refunded, [{ ...job, state: 'running' }]), /still runs jobs/],
    'jobs that our books do not know the end of': [judged(refunded, [job], 2), /2 jobs of failed tasks/],
  } as const;
  for (const [what, [verdict, sentence]] of Object.entries(broken)) test(what, () => assert.match(verdict, sentence));
});
