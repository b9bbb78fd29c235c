import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Task } from '../../src/tasks/task.ts';
import { createAccount, findAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { findTask } from '../../src/tasks/tasks.ts';
import { type Fault, type FaultProxy, faults, startFaultProxy } from '../fakes/fault-proxy.ts';
import { isSampled, type Kind, kinds, writeKindFiles } from '../fakes/kinds.ts';
import type { BookedJob, RunningUpstream } from '../fakes/upstream-books.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { assertPaidOnce, firstOf, mayStayUnknown, namedFaults } from '../support/fault-verdicts.ts';
import { catalogueWith, startLife } from '../support/kind-stage.ts';
import { playTask } from '../support/play-task.ts';
import { acceptTestTask, entryKinds, taskParam } from '../support/tasks.ts';
import { createTestDeadlines } from '../support/test-deadlines.ts';
import { waitFor } from '../support/wait-for.ts';

// Every kind of provider, with its real adapter and the upstream's own books as judge: the worker dies at each request that it makes,
// before the upstream gets it and after the upstream has answered it, and the create meets every fault of the network.

const credits = 1_000;
const charge = 132;
/** No attempt takes so long by the clock of the machine. */
const deadlineMs = 60 * 60_000;
/** Longer than every pause before a lost create is looked up again or abandoned. */
const laterSeconds = 130;

type Played = { readonly fault: Fault; readonly matches: Parameters<FaultProxy['play']>[1] };
type Story = {
  /** The deadline passes while the job is polled, or where a job is not polled, while it runs; jobs never end. */
  readonly isLate?: true;
  /** Requests that it makes, at least. */
  readonly fewest?: number;
  /** A fault of the network on top. */
  readonly played?: (kind: Kind) => Played;
};
type Death = { readonly request: number; readonly when: 'before' | 'after' };

type Told = {
  readonly task: Task;
  readonly made: readonly BookedJob[];
  /** The requests of the first process, in order. */
  readonly requests: readonly string[];
  /** The last one was the create, and its outcome cannot be found. */
  readonly isLost: boolean;
  readonly hasDied: boolean;
};

type Stage = {
  readonly name: string;
  readonly kind: Kind;
  readonly upstream: RunningUpstream;
  readonly proxy: FaultProxy;
};

describe('every request to an upstream', { concurrency: true }, () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'videogen-requests-'));
    await writeKindFiles(folder);
  });
  after(async () => {
    const violations = await auditLedger(database.db);
    await rm(folder, { recursive: true });
    await database.close();
    assert.deepEqual(violations, []);
  });

  for (const [name, kind] of [...kinds].filter(([kindName]) => isSampled(kindName, 'lostJobs'))) {
    describe(name, { skip: kind.skip ?? false, concurrency: false }, () => {
      let stage: Stage;
      before(async () => {
        const upstream = await kind.start();
        const proxy = await startFaultProxy(upstream);
        stage = { name, kind, upstream, proxy };
      });
      after(async () => {
        await stage.proxy.close();
        await stage.upstream.close();
      });

      test('may be the last of a worker: the video is made once', async () => {
        await throughEveryRequest(
          stage,
          { fewest: kind.endsAlone === true ? 1 : 4 },
          async ({ task, made, isLost }) => {
            if (isLost && task.state === 'fail') return assert.equal(task.failure?.failCode, 'provider_unavailable');
            assert.equal(task.state, 'success', JSON.stringify(task.failure));
            assert.ok(kind.endsAlone === true || made.length === 1, JSON.stringify(made));
          },
        );
      });

      test('may be the last of a worker that looks a lost job up', async () => {
        const played = (): Played => ({ fault: faults['is cut after it was sent'], matches: firstOf(kind.isCreate) });
        await throughEveryRequest(stage, { played }, async ({ task, made, isLost }) => {
          const mayBeLost = isLost || kind.lostJobs === 'lost';
          if (mayBeLost && task.state === 'fail') return assert.equal(task.failure?.failCode, 'provider_unavailable');
          assert.equal(task.state, 'success', JSON.stringify(task.failure));
          assert.ok(kind.endsAlone === true || made.length === 1, JSON.stringify(made));
        });
      });

      test('may be the last of a worker whose task is out of time: it is refunded', async () => {
        // A held create is answered at its end, which may come after the deadline: then no worker dies at its response.
        const fewest = kind.endsAlone === true ? 0 : 2;
        await throughEveryRequest(stage, { isLate: true, fewest }, async ({ task, isLost }) => {
          const ends = isLost ? ['timeout', 'provider_unavailable'] : ['timeout'];
          // A model that ends alone may do so in time.
          if (kind.endsAlone === true && task.state === 'success') return;
          assert.ok(ends.includes(task.failure?.failCode ?? ''), JSON.stringify(task.failure));
        });
      });

      for (const [faultName, fault] of namedFaults) {
        test(`for a job ${faultName}: it is made once, or refunded`, async () => {
          // A held call has no limit but the deadline.
          const isLate = kind.endsAlone === true && fault.reply === 'never';
          const played = (): Played => ({ fault, matches: firstOf(kind.isCreate) });
          const { task } = await tell(stage, { played, ...(isLate && { isLate }) });
          if (mayStayUnknown(kind, faultName) && task.state === 'fail')
            return assert.equal(task.failure?.failCode, 'provider_unavailable');
          if (isLate) return assert.equal(task.failure?.failCode, 'timeout');
          assert.equal(task.state, 'success', JSON.stringify(task.failure));
        });
      }
    });
  }

  /** Plays the story once for each request at which the first process can die. */
  async function throughEveryRequest(stage: Stage, story: Story, check: (told: Told) => Promise<void>): Promise<void> {
    let request = 0;
    for (let hasDied = true; hasDied; request += 1) {
      for (const when of ['before', 'after'] as const) {
        const told = await tell(stage, story, { request, when });
        hasDied = told.hasDied;
        await check(told).catch((cause: unknown) => {
          throw new Error(`died ${when} the last of: ${told.requests.join(', ')}`, { cause });
        });
      }
      assert.ok(request < 40, 'it never comes to its end');
    }
    const { fewest = 1 } = story;
    assert.ok(request > fewest, `only ${request - 1} requests were seen`);
  }

  async function tell({ name, kind, upstream, proxy }: Stage, story: Story, death?: Death): Promise<Told> {
    const { db } = database;
    runs += 1;
    // Each task has its own account and provider, so that tasks do not affect each other.
    const accountId = await createAccount(db, { name: 'requests', credits });
    const provider = `${name}-${runs}`;
    const prompt = `a film ${runs}`;
    const taskId = await acceptTestTask(db, accountId, { ...taskParam(prompt), model: provider });
    const deadlines = createTestDeadlines();
    const { startDeadline } = deadlines;
    const placed = { name: provider, kind, baseUrl: proxy.baseUrl };
    const played = story.played?.(kind);
    // Only a create that is never answered may meet its limit; what is sent after it meets none.
    const isImpatient = played?.fault.reply === 'never';
    const impatient = isImpatient ? { ...placed, submitSeconds: 1 } : placed;
    const first = startLife(db, folder, catalogueWith(folder, impatient), { startDeadline });
    const next = startLife(db, folder, catalogueWith(folder, placed), { startDeadline });
    const requests: string[] = [];
    let isLost = false;
    if (death !== undefined) {
      const reply = () => {
        first.die(`${death.when} ${requests.at(-1)}`);
        throw new Error('the worker has died');
      };
      await proxy.play({ forwarded: death.when === 'before' ? 0 : 1, reply }, (request) => {
        if (first.isDead()) return false;
        const isHere = requests.push(`${request.method} ${request.path}`) - 1 === death.request;
        const isFound = kind.lostJobs === 'named' || (kind.lostJobs === 'listed' && death.when === 'after');
        isLost ||= isHere && kind.isCreate(request) && !isFound;
        return isHere;
      });
    }
    if (played !== undefined) await proxy.play(played.fault, played.matches);
    const passDeadline = async () => {
      if (deadlines.running() === 0) return;
      await db.run(ageAttempt, [taskId, deadlineMs]);
      deadlines.pass();
    };
    const endJobs = async () => {
      for (const { id, state } of await upstream.books.jobsFor(prompt))
        if (state === 'running') await upstream.books.end(id, 'succeeded');
    };
    const afterPoll = story.isLate === true ? passDeadline : endJobs;
    const watching: Promise<void>[] = [];
    let isOver = false;
    if (kind.endsAlone !== true) proxy.listen((request) => void (kind.isCreate(request) || watching.push(afterPoll())));
    else if (story.isLate === true)
      watching.push(whileHeld({ upstream, proxy }, { prompt, isOver: () => isOver }, passDeadline));
    let hasWaited = false;
    const betweenAttempts = async () => {
      hasWaited = true;
      if (played?.fault.reply === 'refused') await proxy.heal();
      await db.run(ageCalls, [taskId, laterSeconds]);
      await db.run(endCooldown, [provider]);
      await waitFor('an upstream that takes a job', async () => (await (upstream.isIdle?.() ?? true)) || undefined);
    };
    try {
      const lives = { next: () => (first.isDead() || (isImpatient && hasWaited) ? next.deps : first.deps) };
      await playTask(lives, { taskId, betweenAttempts });
      await proxy.release();
    } finally {
      isOver = true;
      proxy.listen(() => undefined);
      await proxy.heal();
      await Promise.all([first.close(), next.close()]);
      await Promise.all(watching);
    }
    await endJobs();
    const task = await findTask(db, taskId);
    assert.ok(task);
    const refunded = task.state === 'fail' ? charge : 0;
    assert.equal((await findAccount(db, accountId))?.balance, credits - charge + refunded);
    const entries = await entryKinds(db, taskId);
    assert.deepEqual(entries, task.state === 'fail' ? ['charge', 'refund'] : ['charge']);
    const made = await upstream.books.jobsFor(prompt);
    assertPaidOnce(kind, made, played?.fault);
    return { task, made, requests, isLost, hasDied: first.isDead() };
  }

  let runs = 0;
});

/** The time of the task is over whenever the upstream has begun to work in the call for its job. */
async function whileHeld(
  { upstream, proxy }: Pick<Stage, 'upstream' | 'proxy'>,
  { prompt, isOver }: { readonly prompt: string; readonly isOver: () => boolean },
  pass: () => Promise<void>,
): Promise<void> {
  await waitFor('the end of the story', async () => {
    const hasBegun = proxy.met() > 0 || (await upstream.books.jobsFor(prompt)).length > 0;
    if (hasBegun) await pass();
    return isOver() ? true : undefined;
  });
}

const ageAttempt = {
  name: 'test-age-attempt',
  text: `
update tasks set attempt_started_at = attempt_started_at - $2::float8 * interval '1 ms',
  attempt_seen_at = attempt_seen_at - $2::float8 * interval '1 ms' where id = $1`,
};

// A lost create is looked up again some minutes later, when its provider is past its cooldown, too.
const ageCalls = {
  name: 'test-age-calls',
  text: `
update provider_jobs set intended_at = intended_at - $2::integer * interval '1 s',
  submitted_at = submitted_at - $2::integer * interval '1 s' where task_id = $1`,
};
const endCooldown = {
  name: 'test-end-cooldown',
  text: `update provider_pools set failures = 0, cooling_until = null, cooling_reason = null where provider = $1`,
};
