import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pLimit from 'p-limit';
import { noMedia, type PreparedMediaByRole } from '../../src/catalogue/media/media-by-role.ts';
import { fileKeysOfResult, type Task } from '../../src/catalogue/tasks/task.ts';
import type { ReferenceMediaRequest } from '../../src/media/references/fetch-reference-media.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listProviderJobs } from '../../src/tasks/jobs/provider-jobs.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { workerParts } from '../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { createFakeUpstream, type FakeOptions, type FakeUpstream } from '../support/tasks/fake-upstream.ts';
import { type FakeTerms, providersOf } from '../support/tasks/fake-providers.ts';
import { type DeathPoint, interruptedParts } from '../support/processes/dying-worker-parts.ts';
import { recordTransitions, unknownTransitions } from '../support/tasks/job-transitions.ts';
import { playTask } from '../support/tasks/play-task.ts';
import { acceptTestTask, entryKinds, taskParam } from '../support/tasks/tasks.ts';
import { createTestDeadlines, type TestDeadlines } from '../support/test-deadlines.ts';

const credits = 1_000;
const charge = 132;
/** Each task has an account and upstreams of its own, so tasks that wait for the disk can wait together. */
const windowsAtOnce = 6;
/** No attempt takes so long by the clock of the machine. */
const deadlineMs = 24 * 60 * 60_000;

const ageCalls = {
  name: 'test-age-calls',
  text: `update provider_jobs set intended_at = intended_at - interval '61 s' where task_id = $1`,
};
const ageAttempt = {
  name: 'test-age-attempt',
  text: `
update tasks set attempt_started_at = attempt_started_at - $2::float8 * interval '1 ms',
  attempt_seen_at = attempt_seen_at - $2::float8 * interval '1 ms' where id = $1`,
};

/** The same upstream, at which the deadline of a task passes whenever its job is polled. */
function upstreamAtDeadline(upstream: FakeUpstream, pass: () => Promise<void>): FakeUpstream {
  const { provider } = upstream;
  const status: typeof provider.status = async (...asked) => {
    const answer = await provider.status(...asked);
    await pass();
    return answer;
  };
  return { ...upstream, provider: { ...provider, status } };
}

describe('a process that dies anywhere, before a call or before it receives the response', () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await createTestDatabase();
    await recordTransitions(database.db);
    folder = await mkdtemp(join(tmpdir(), 'videogen-windows-'));
  });
  after(async () => {
    const violations = await auditLedger(database.db);
    const unknown = await unknownTransitions(database.db);
    await rm(folder, { recursive: true });
    await database.close();
    assert.deepEqual(violations, []);
    assert.deepEqual(unknown, [], 'jobs change as job-states.ts declares');
  });

  test('leaves a task that succeeds with one charge, one job upstream, one video and no scrap', async () => {
    await throughEveryWindow({ fewest: 14 }, async ({ task, upstream, entries, files }) => {
      assert.deepEqual([task.state, task.failure], ['success', undefined]);
      assert.deepEqual(entries, ['charge']);
      assert.equal(upstream.jobs.length, 1);
      assert.deepEqual(files, fileKeysOfResult(task.result ?? assert.fail()).toSorted());
      const outcomes = (await listProviderJobs(database.db, task.taskId)).map(({ outcome }) => outcome);
      assert.deepEqual(
        outcomes.filter((outcome) => outcome !== 'not_created'),
        ['success'],
      );
    });
  });

  test('leaves a task whose upstream fetches the reference images with its video, and no copy of an image', async () => {
    await throughEveryWindow(
      { fewest: 16, upstream: { images: 'link' }, images: 2 },
      async ({ task, upstream, files }) => {
        assert.deepEqual([task.state, upstream.jobs.length], ['success', 1]);
        assert.deepEqual(files, fileKeysOfResult(task.result ?? assert.fail()).toSorted());
      },
    );
  });

  test('leaves a task whose content is rejected with that very reason, one job and one refund, though another provider is left', async () => {
    const fault = { kind: 'content', detail: 'No lighthouses, please.' } as const;
    await throughEveryWindow({ fewest: 8, upstream: { fault } }, async ({ task, upstream, spare, entries }) => {
      assert.deepEqual(task.failure, {
        failCode: 'content_rejected',
        failMsg: 'The request was rejected by the content policy.',
      });
      assert.deepEqual(entries, ['charge', 'refund']);
      assert.deepEqual([upstream.jobs.length, spare.jobs.length], [1, 0]);
    });
  });

  const refused = { kind: 'content', about: 'output', detail: 'The output may be sensitive.' } as const;
  const repeated = { failedJobs: 'free', onRefusedOutput: 'resubmit' } as const;
  test('leaves a task whose video was refused once with a second job at its provider, and never a third', async () => {
    const once: FakeOptions = { fault: (number) => (number === 1 ? refused : undefined) };
    await throughEveryWindow({ fewest: 20, upstream: once, terms: repeated }, async ({ task, upstream, ...rest }) => {
      assert.deepEqual([task.state, rest.entries], ['success', ['charge']]);
      assert.deepEqual([upstream.jobs.length, rest.spare.jobs.length], [2, 0]);
    });
  });

  test('leaves a task whose video was refused twice refunded, with two jobs at its provider', async () => {
    const story = { fewest: 14, upstream: { fault: refused }, terms: repeated };
    await throughEveryWindow(story, async ({ task, upstream, spare, entries }) => {
      assert.equal(task.failure?.failMsg, 'The generated video was rejected by the content policy.');
      assert.deepEqual(entries, ['charge', 'refund']);
      assert.deepEqual([upstream.jobs.length, spare.jobs.length], [2, 0]);
    });
  });

  test('leaves a task whose create answer was lost upstream with one job, which is found again', async () => {
    await throughEveryWindow({ fewest: 15, upstream: { losesAnswers: true } }, async ({ task, upstream, spare }) => {
      assert.equal(task.state, 'success');
      assert.deepEqual([upstream.jobs.length, spare.jobs.length], [1, 0]);
    });
  });

  test('leaves a task whose create answer was lost for good refunded, and no second job anywhere', async () => {
    const lost: FakeOptions = { losesAnswers: true, recover: () => ({ kind: 'unknown', detail: '' }) };
    await throughEveryWindow({ fewest: 8, upstream: lost }, async ({ task, upstream, spare, entries }) => {
      assert.equal(task.failure?.failCode, 'provider_unavailable');
      assert.deepEqual(entries, ['charge', 'refund']);
      assert.ok(upstream.jobs.length <= 1);
      assert.equal(spare.jobs.length, 0);
    });
  });

  test('leaves a task whose video was lost upstream refunded, and no second job anywhere', async () => {
    const story = { fewest: 10, upstream: { lostVideos: 1 } };
    await throughEveryWindow(story, async ({ task, upstream, spare, entries, files }) => {
      assert.equal(task.failure?.failCode, 'provider_unavailable');
      assert.deepEqual([entries, files], [['charge', 'refund'], []]);
      assert.deepEqual([upstream.jobs.length, spare.jobs.length], [1, 0]);
    });
  });

  test('leaves a task whose first video was lost on an own server with a second job there, and never a third', async () => {
    const story: Story = { fewest: 20, upstream: { lostVideos: 1 }, terms: { onLostJob: 'resubmit' } };
    await throughEveryWindow(story, async ({ task, upstream, spare, entries }) => {
      assert.deepEqual([task.state, entries], ['success', ['charge']]);
      assert.deepEqual([upstream.jobs.length, spare.jobs.length], [2, 0]);
    });
  });

  test('leaves a task that is not finished in time refunded as timeout, its job stopped, and no other provider tried', async () => {
    const slow: FakeOptions = { instant: false };
    await throughEveryWindow({ fewest: 10, upstream: slow, isLate: true }, async ({ task, upstream, ...rest }) => {
      assert.equal(task.failure?.failCode, 'timeout');
      assert.deepEqual(rest.entries, ['charge', 'refund']);
      assert.ok(upstream.jobs.length <= 1);
      assert.equal(rest.spare.jobs.length, 0);
      // A death between a job and the note of its id is settled by reconcile, see test/activities/maintenance/reconcile.test.ts.
      const noted = (await listProviderJobs(database.db, task.taskId)).filter(({ jobId }) => jobId !== undefined);
      if (noted.length > 0) assert.equal(upstream.jobs[0]?.state, 'cancelled');
    });
  });

  type Story = {
    readonly upstream?: FakeOptions;
    readonly terms?: FakeTerms;
    /** The deadline passes while the job is polled. */
    readonly isLate?: true;
    /** Reference images of the task. */
    readonly images?: number;
    /** Calls that it makes, at least. */ readonly fewest: number;
  };
  type Outcome = {
    readonly task: Task;
    readonly upstream: FakeUpstream;
    readonly spare: FakeUpstream;
    /** Kinds, in order. */
    readonly entries: readonly string[];
    /** Keys of this task in the store. */
    readonly files: readonly string[];
  };

  /** Plays the story once for each point at which its first process can die. */
  async function throughEveryWindow(story: Story, check: (outcome: Outcome) => Promise<void>): Promise<void> {
    const tryWindow = async (call: number) => {
      let hasDied = false;
      for (const when of ['before', 'after'] as const) {
        const told = await tell(story, { call, when });
        hasDied = told.calls.length > call;
        await check(told.outcome).catch((cause: unknown) => {
          throw new Error(`died ${when} the last of: ${told.calls.join(', ')}`, { cause });
        });
      }
      return hasDied;
    };
    // As many as it has without a death are played at once.
    const { calls, outcome } = await tell(story, { call: Infinity, when: 'before' });
    await check(outcome);
    const limit = pLimit(windowsAtOnce);
    const died = await Promise.all(calls.map((_, call) => limit(() => tryWindow(call))));
    let windows = died.includes(false) ? died.indexOf(false) : died.length;
    for (; await tryWindow(windows); windows += 1) assert.ok(windows < 100, 'the task never gets to its end');
    assert.ok(windows >= story.fewest, `only ${windows} windows were seen`);
  }

  async function tell({ upstream: options = {}, terms, isLate, images = 0 }: Story, death: DeathPoint) {
    const { db } = database;
    const accountId = await createAccount(db, { name: 'windows', credits });
    const imageUrls = Array.from({ length: images }, (_, index) => `https://client.example/${index}.jpg`);
    const taskId = await acceptTestTask(db, accountId, taskParam('a window', { imageUrls }));
    // Each task has its own upstreams, because one that failed takes no task for a while.
    const upstream = createFakeUpstream({ name: `fake-${taskId}`, ...options });
    const spare = createFakeUpstream({ name: `spare-${taskId}` });
    // Each process makes its own parts; only the first one dies, wherever in the story its point lies.
    const deadlines = createTestDeadlines();
    const asked = isLate === true ? upstreamAtDeadline(upstream, () => passDeadline(deadlines, taskId)) : upstream;
    const { startDeadline } = deadlines;
    const providers = providersOf([asked.provider, spare.provider], () => terms);
    const { watches, videoTools, ...rest } = workerParts(db, folder, [asked, spare]);
    const clean = {
      ...rest,
      providers,
      watches: { ...watches, startDeadline },
      videoTools: { ...videoTools, fetchMedia: fetchNothing },
    };
    const first = interruptedParts(clean, death);
    let hasDied = false;
    const lives = { next: () => (hasDied ? clean : first.parts) };
    const betweenAttempts = async () => {
      hasDied = first.calls.length > death.call;
      // A lost call is looked up a minute later.
      await db.run(ageCalls, [taskId]);
    };
    await playTask(lives, { taskId, betweenAttempts });
    const task = await findTask(db, taskId);
    assert.ok(task);
    const refunded = task.state === 'fail' ? charge : 0;
    assert.equal((await findAccount(db, accountId))?.balance, credits - charge + refunded);
    const entries = await entryKinds(db, taskId);
    const outcome: Outcome = { task, upstream, spare, entries, files: await filesOf(taskId) };
    return { outcome, calls: first.calls };
  }

  async function fetchNothing({ input, folder: workFolder }: ReferenceMediaRequest): Promise<PreparedMediaByRole> {
    const images = input.imageUrls.map((_, index) => ({
      path: join(workFolder, `${index}.jpg`),
      widthPx: 400,
      heightPx: 300,
    }));
    for (const { path } of images) await writeFile(path, 'a picture');
    return { ...noMedia, images };
  }

  /** The keys in the store under the task's id. */
  async function filesOf(taskId: string): Promise<readonly string[]> {
    const tops = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    const below = tops.map(async (top) => {
      const names = await readdir(join(folder, top, taskId), { recursive: true }).catch(() => []);
      return names.map((name) => `${top}/${taskId}/${name}`);
    });
    return (await Promise.all(below)).flat().toSorted();
  }

  /** The time allowed for the task is used up, also by the clock of the database. */
  async function passDeadline(deadlines: TestDeadlines, taskId: string): Promise<void> {
    await database.db.run(ageAttempt, [taskId, deadlineMs]);
    deadlines.pass();
  }
});
