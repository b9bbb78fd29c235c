import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Task } from '../../src/domain/task.ts';
import { createAccount, findAccount } from '../../src/stores/accounts.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { type Fault, type FaultProxy, faults, startFaultProxy } from '../fakes/fault-proxy.ts';
import { type Kind, kinds, writeKindFiles } from '../fakes/kinds.ts';
import type { BookedJob, RunningUpstream } from '../fakes/upstream-books.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { assertPaidOnce, firstOf, mayStayUnknown, namedFaults } from '../support/fault-verdicts.ts';
import { catalogueWith, startLife } from '../support/kind-stage.ts';
import { playTask } from '../support/play-task.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';

// Every kind of provider, with its real adapter and the upstream's own books as judge: the worker dies at each request that it makes,
// before the upstream gets it and after the upstream has answered it, and the call for the job meets every fault of the network.

const credits = 1_000;
const charge = 132;
/** A job runs for so long, so that it is asked about before and after its end, also by a busy machine. */
const jobMs = 500;
/** Beyond every time after which a lost call is looked up again, or given up. */
const laterSeconds = 130;

type Played = { readonly fault: Fault; readonly matches: Parameters<FaultProxy['play']>[1] };
type Story = {
  readonly deadlineMs?: number;
  /** Requests that it makes, at least. */
  readonly fewest?: number;
  /** What the network does beside. */
  readonly played?: (kind: Kind) => Played;
};
type Death = { readonly request: number; readonly when: 'before' | 'after' };

type Told = {
  readonly task: Task;
  readonly made: readonly BookedJob[];
  /** Of the first process, in order. */
  readonly requests: readonly string[];
  /** The last one was the request for the job, and nobody can tell what came of it. */
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

  for (const [name, kind] of kinds) {
    describe(name, { skip: kind.skip ?? false, concurrency: false }, () => {
      let stage: Stage;
      let ender: NodeJS.Timeout;
      let isEndless = false;
      before(async () => {
        const upstream = await kind.start();
        const proxy = await startFaultProxy(upstream);
        stage = { name, kind, upstream, proxy };
        const begunAt = new Map<string, number>();
        ender = setInterval(() => {
          if (isEndless) return;
          void upstream.books.jobs().then(async (jobs) => {
            for (const { id, state } of jobs) {
              if (state !== 'running') continue;
              const since = begunAt.get(id) ?? Date.now();
              begunAt.set(id, since);
              if (Date.now() - since >= jobMs) await upstream.books.end(id, 'succeeded');
            }
          });
        }, 50);
      });
      after(async () => {
        clearInterval(ender);
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

      test('may be the last of a worker that looks for a lost job', async () => {
        const played = (): Played => ({ fault: faults['is cut after it was sent'], matches: firstOf(kind.isCreate) });
        await throughEveryRequest(stage, { played }, async ({ task, made, isLost }) => {
          const mayBeLost = isLost || kind.lostJobs === 'lost';
          if (mayBeLost && task.state === 'fail') return assert.equal(task.failure?.failCode, 'provider_unavailable');
          assert.equal(task.state, 'success', JSON.stringify(task.failure));
          assert.ok(kind.endsAlone === true || made.length === 1, JSON.stringify(made));
        });
      });

      test('may be the last of a worker whose task is out of time: it is refunded', async (t) => {
        isEndless = true;
        t.after(() => (isEndless = false));
        // A held call is answered at its end, which may come after the deadline: then nobody dies of its answer.
        const fewest = kind.endsAlone === true ? 0 : 1;
        await throughEveryRequest(stage, { deadlineMs: 700, fewest }, async ({ task, isLost }) => {
          const ends = isLost ? ['timeout', 'provider_unavailable'] : ['timeout'];
          // A model that ends alone may do so in time.
          if (kind.endsAlone === true && task.state === 'success') return;
          assert.ok(ends.includes(task.failure?.failCode ?? ''), JSON.stringify(task.failure));
        });
      });

      for (const [faultName, fault] of namedFaults) {
        test(`for a job ${faultName}: it is made once, or refunded`, async () => {
          // A held call has no limit but the deadline.
          const deadlineMs = kind.endsAlone === true && fault.reply === 'never' ? 3_000 : 60_000;
          const played = (): Played => ({ fault, matches: firstOf(kind.isCreate) });
          const { task } = await tell(stage, { played, deadlineMs });
          if (mayStayUnknown(kind, faultName) && task.state === 'fail')
            return assert.equal(task.failure?.failCode, 'provider_unavailable');
          if (deadlineMs === 3_000) return assert.equal(task.failure?.failCode, 'timeout');
          assert.equal(task.state, 'success', JSON.stringify(task.failure));
        });
      }
    });
  }

  /** Tells the story once for each request at which the first process can die. */
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
    const { deadlineMs = 60_000 } = story;
    runs += 1;
    // Of each task's own: what one has left behind is nothing to the next.
    const accountId = await createAccount(db, { name: 'requests', credits });
    const provider = `${name}-${runs}`;
    const prompt = `a film ${runs}`;
    const taskId = await acceptTestTask(db, accountId, { ...taskParam(prompt), model: provider });
    const catalogue = catalogueWith(folder, { name: provider, kind, baseUrl: proxy.baseUrl, submitSeconds: 1 });
    const first = startLife(db, folder, catalogue);
    const next = startLife(db, folder, catalogue);
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
    const played = story.played?.(kind);
    if (played !== undefined) await proxy.play(played.fault, played.matches);
    const betweenAttempts = async () => {
      if (played?.fault.reply === 'refused') await proxy.heal();
      await timePasses(taskId, provider);
      // What is busy is so for a moment; real time has to pass for its model.
      if (kind.endsAlone === true) await delay(300);
    };
    try {
      const lives = { next: () => (first.isDead() ? next.deps : first.deps) };
      await playTask(lives, { taskId, deadlineMs, betweenAttempts });
      await proxy.release();
    } finally {
      await proxy.heal();
      await Promise.all([first.close(), next.close()]);
    }
    const task = await findTask(db, taskId);
    assert.ok(task);
    const refunded = task.state === 'fail' ? charge : 0;
    assert.equal((await findAccount(db, accountId))?.balance, credits - charge + refunded);
    const entries = (await listTaskEntries(db, taskId)).map(({ kind: entry }) => entry);
    assert.deepEqual(entries, task.state === 'fail' ? ['charge', 'refund'] : ['charge']);
    const made = await upstream.books.jobsFor(prompt);
    assertPaidOnce(kind, made, played?.fault);
    return { task, made, requests, isLost, hasDied: first.isDead() };
  }

  let runs = 0;

  /** A lost call is looked up again some minutes later, when its provider may be asked again, too. */
  async function timePasses(taskId: string, provider: string): Promise<void> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`
update provider_jobs set intended_at = intended_at - interval '${laterSeconds} s',
  submitted_at = submitted_at - interval '${laterSeconds} s' where task_id = '${taskId}';
update provider_pools set strikes = 0, cooling_until = null, cooling_reason = null where provider = '${provider}'`);
    await client.end();
  }
});
