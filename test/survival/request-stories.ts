import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Task } from '../../src/catalogue/tasks/task.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { listProviderJobs } from '../../src/tasks/jobs/provider-jobs.ts';
import { noMedia } from '../../src/catalogue/media/media-by-role.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../fakes/fault-proxy.ts';
import { type Kind, writeKindFiles } from '../fakes/provider-kinds.ts';
import type { BookedJob, RunningUpstream } from '../fakes/upstream-books.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { assertPaidOnce } from '../support/fault-verdicts.ts';
import { catalogueWith, startLife } from '../support/tasks/process-life.ts';
import { playTask } from '../support/tasks/play-task.ts';
import { plainImage } from '../support/hostile/hostile-images.ts';
import { acceptTestTask, entryKinds, taskParam } from '../support/tasks/tasks.ts';
import { createTestDeadlines } from '../support/test-deadlines.ts';
import { waitFor } from '../support/wait-for.ts';

// Tasks of which the worker dies at a request to the upstream, before the upstream gets it or after the upstream has answered it, or
// of which a request fails in the network. The upstream's own books are the judge.

const credits = 1_000;
const charge = 132;
/** No attempt takes so long by the clock of the machine. */
const deadlineMs = 60 * 60_000;
/** Longer than every pause before a lost create is looked up again or abandoned. */
const laterSeconds = 130;

export type Played = { readonly fault: Fault; readonly matches: Parameters<FaultProxy['play']>[1] };
export type Story = {
  /** The deadline passes while the job is polled, or where a job is not polled, while it runs; jobs never end. */
  readonly isLate?: true;
  /** Requests that it makes, at least. */
  readonly fewest?: number;
  /** The first process dies at requests up to the create, and at no later one. */
  readonly endsAtCreate?: true;
  /** The task has two frames. */
  readonly hasFrames?: true;
  /** The network fails on top. */
  readonly played?: (kind: Kind) => Played;
};
type Death = { readonly request: number; readonly when: 'before' | 'after' };

export type Outcome = {
  readonly task: Task;
  readonly made: readonly BookedJob[];
  /** The requests of the first process, in order. */
  readonly requests: readonly string[];
  /** The last one was the create, or an upload before it, and whether there is a job cannot be found. */
  readonly isLost: boolean;
  readonly hasDied: boolean;
  /** Its jobs that still hold a slot; reconcile ends those of a task that ended while it waited. */
  readonly openJobs: number;
};

export type Stage = {
  readonly name: string;
  readonly kind: Kind;
  readonly upstream: RunningUpstream;
  readonly proxy: FaultProxy;
};

export type Stories = {
  /** Starts the upstream and its network before the tests of a kind. */
  readonly stageOf: (name: string, kind: Kind) => () => Stage;
  /** Plays the story once for each request at which the first process can die. */
  readonly throughEveryRequest: (
    stage: Stage,
    story: Story,
    check: (outcome: Outcome) => Promise<void>,
  ) => Promise<void>;
  readonly playOnce: (stage: Stage, story: Story, death?: Death) => Promise<Outcome>;
};

/** Has a database and a folder for the tests of a `describe`, in which it is called. `files` are JSON beside those of the kinds. */
export function createStories(files: Readonly<Record<string, object>> = {}): Stories {
  let database: TestDatabase;
  let folder: string;
  let runs = 0;
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'videogen-requests-'));
    await writeKindFiles(folder);
    for (const [name, data] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(data));
    await plainImage(640, 360).jpeg().toFile(join(folder, 'frame.jpg'));
  });
  after(async () => {
    const violations = await auditLedger(database.db);
    await rm(folder, { recursive: true });
    await database.close();
    assert.deepEqual(violations, []);
  });
  return { stageOf, throughEveryRequest, playOnce };

  function stageOf(name: string, kind: Kind): () => Stage {
    let stage: Stage | undefined;
    before(async () => {
      const upstream = await kind.start();
      stage = { name, kind, upstream, proxy: await startFaultProxy(upstream) };
    });
    after(async () => {
      await stage?.proxy.close();
      await stage?.upstream.close();
    });
    return () => stage ?? assert.fail('the stage is not ready');
  }

  async function throughEveryRequest(
    stage: Stage,
    story: Story,
    check: (outcome: Outcome) => Promise<void>,
  ): Promise<void> {
    let request = 0;
    for (let isMore = true; isMore; request += 1) {
      for (const when of ['before', 'after'] as const) {
        const outcome = await playOnce(stage, story, { request, when });
        const { hasDied, requests } = outcome;
        isMore = hasDied && !(story.endsAtCreate === true && stage.kind.isCreate(lineOf(requests.at(-1))));
        await check(outcome).catch((cause: unknown) => {
          throw new Error(`died ${when} the last of: ${outcome.requests.join(', ')}`, { cause });
        });
      }
      assert.ok(request < 40, 'the requests end');
    }
    const { fewest = 1 } = story;
    assert.ok(request > fewest, `only ${request - 1} requests were seen`);
  }

  async function playOnce({ name, kind, upstream, proxy }: Stage, story: Story, death?: Death): Promise<Outcome> {
    const { db } = database;
    runs += 1;
    // Each task has its own account and provider, so that tasks do not affect each other.
    const accountId = await createAccount(db, { name: 'requests', credits });
    const provider = `${name}-${runs}`;
    const prompt = `a film ${runs}`;
    const param = { ...taskParam(prompt), model: provider };
    const input = story.hasFrames === true ? { ...param.input, ...frameUrls } : param.input;
    const taskId = await acceptTestTask(db, accountId, { ...param, input });
    const deadlines = createTestDeadlines();
    const frame = { path: join(folder, 'frame.jpg'), widthPx: 640, heightPx: 360 };
    const media = story.hasFrames === true ? { ...noMedia, firstFrame: frame, lastFrame: frame } : noMedia;
    const changes = { startDeadline: deadlines.startDeadline, fetchMedia: () => Promise.resolve(media) };
    const placed = { name: provider, kind, baseUrl: proxy.baseUrl };
    const played = story.played?.(kind);
    // Only a create that is never answered may meet its limit; what is sent after it meets none.
    const isImpatient = played?.fault.reply === 'never';
    const impatient = isImpatient ? { ...placed, submitSeconds: 1 } : placed;
    const first = startLife(db, folder, catalogueWith(folder, impatient), changes);
    const next = startLife(db, folder, catalogueWith(folder, placed), changes);
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
        const isCreate = kind.isCreate(request);
        const isFound = kind.lostJobs === 'named' || (kind.lostJobs === 'listed' && isCreate && death.when === 'after');
        isLost ||= isHere && (isCreate || isUpload(request.path)) && !isFound;
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
      const lives = { next: () => (first.isDead() || (isImpatient && hasWaited) ? next.parts : first.parts) };
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
    const openJobs = (await listProviderJobs(db, taskId)).filter(({ endedAt }) => endedAt === undefined);
    return { task, made, requests, isLost, hasDied: first.isDead(), openJobs: openJobs.length };
  }
}

const frameUrls = { firstFrameUrl: 'https://client.example/first', lastFrameUrl: 'https://client.example/last' };

function lineOf(request = ''): Parameters<Kind['isCreate']>[0] {
  const [method = '', path = ''] = request.split(' ');
  return { method, path };
}

/** `METHOD path`. */
export function isUpload(line: string): boolean {
  return line.includes('/upload');
}

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
