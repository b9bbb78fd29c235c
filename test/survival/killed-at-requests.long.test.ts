import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import { mediaKeysOf } from '../../activities/task-files.ts';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { createAccount, findAccount } from '../../src/stores/accounts.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { faults } from '../fakes/fault-proxy.ts';
import { type Kind, kinds } from '../fakes/kinds.ts';
import { firstOf } from '../support/fault-verdicts.ts';
import { type Seat, startKindService } from '../support/kind-service.ts';
import { endOf, endPrograms, startProgram } from '../support/programs.ts';
import { createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// Real workers, ended by SIGKILL, with the engine's own timeouts. The requests that each kind of provider makes are found out first.
// Then a task for each of them, and for each side of it, comes as far as that request, which is held: before the upstream gets it, or
// after the upstream has answered it. When all are there the worker is killed, and a second one takes over. It looks for the jobs whose
// creates were lost, and is killed at each request of that; the third one ends what is left.

const credits = 1_000;
const charge = 132;
/** Of each kind: more than it has requests to die at. */
const seatsOfKind = 25;
/** As many as fit into one catalogue. */
const kindsAtOnce = 4;
/** With it the tasks of a dead worker are taken over after a minute. */
const deadlineSeconds = 900;
/** For so long a job goes on to run when it has been asked about. */
const storyMs = 500;

type Request = { readonly name: string; readonly isCreate: boolean };
type Death = Request & { readonly when: 'before' | 'after' };
type Begun = { readonly seat: Seat; readonly taskId: string; readonly accountId: string };
type Doomed = Begun & { readonly deaths: readonly Death[] };

type Stage = {
  readonly environment: TestEnvironment;
  readonly seats: readonly Seat[];
  /** Accepts and starts the task of a seat. */
  readonly begin: (seat: Seat) => Promise<Begun>;
  readonly startWorker: () => { kill(): Promise<void> };
};

describe('workers that are killed at any request to an upstream', { concurrency: true }, () => {
  const here = [...kinds].filter(([, { skip = false }]) => skip === false).map(([name]) => name);
  for (let first = 0; first < here.length; first += kindsAtOnce) {
    const names = here.slice(first, first + kindsAtOnce);
    test(`of ${names.join(', ')} leave no task unfinished, unpaid or paid twice`, (t) => killedEverywhere(t, names));
  }
});

async function killedEverywhere(t: TestContext, names: readonly string[]): Promise<void> {
  await withStage(names, async (stage) => {
    const { environment, startWorker } = stage;
    let worker = startWorker();
    const tasks = (await Promise.all(names.map((name) => doomTasksOf(stage, name)))).flat();
    t.diagnostic(`${tasks.length} tasks, each with a worker that dies at another request`);
    for (const time of [0, 1]) {
      await untilAllAreAt(tasks, time);
      await worker.kill();
      await Promise.all(tasks.map((task) => prepare(task, time + 1)));
      worker = startWorker();
    }
    for (const task of tasks) {
      await waitForEnd(environment.database.db, task.taskId);
      await judge(environment, task).catch((cause: unknown) => {
        throw new Error(`${task.seat.name}, killed ${JSON.stringify(task.deaths)}: ${String(cause)}`, { cause });
      });
    }
    assert.deepEqual(await auditLedger(environment.database.db), []);
  });
}

/** Begins a task of a kind for each way to die, when these are known. */
async function doomTasksOf({ environment, seats, begin }: Stage, kindName: string): Promise<readonly Doomed[]> {
  const [plain, lossy, ...free] = seats.filter((seat) => seat.kindName === kindName);
  if (plain === undefined || lossy === undefined) return [];
  const [requests, afterLoss] = [watched(plain), watched(lossy)];
  await lossy.proxy.play(faults['is cut after it was sent'], firstOf(lossy.kind.isCreate));
  for (const seat of [plain, lossy]) {
    const { taskId } = await begin(seat);
    const task = await waitForEnd(environment.database.db, taskId);
    if (seat === plain) assert.equal(task.state, 'success', JSON.stringify(task.failure));
  }
  const doomed = deathsIn(plain.kind, requests, afterLoss).map(async (deaths, index): Promise<Doomed> => {
    const seat = free[index];
    assert.ok(seat, `${free.length} seats are too few for ${kindName}`);
    await prepare({ seat, deaths }, 0);
    return { ...(await begin(seat)), deaths };
  });
  return await Promise.all(doomed);
}

/** Every request of the story, and every request of the search for a job whose create was the last request of the worker before. */
function deathsIn(kind: Kind, requests: readonly Request[], afterLoss: readonly Request[]) {
  const { endsAlone = false, lostJobs } = kind;
  const told = JSON.stringify([requests, afterLoss]);
  assert.ok(requests.length >= (endsAlone ? 1 : 4), told);
  const isKnown = ({ name }: Request) => requests.some((request) => request.name === name);
  const lookUps = endsAlone
    ? []
    : afterLoss.filter((request) => request === afterLoss.find(isQuestion) || !isKnown(request));
  assert.equal(lookUps.length > 0, lostJobs !== 'lost' && !endsAlone, told);
  const create = requests.find(({ isCreate }) => isCreate);
  assert.ok(create, told);
  const sidesOf = (request: Request): readonly Death[] => [
    { ...request, when: 'before' },
    { ...request, when: 'after' },
  ];
  const inSearch = sidesOf(create).flatMap((first) => lookUps.flatMap(sidesOf).map((next) => [first, next]));
  return [...requests.flatMap(sidesOf).map((death) => [death]), ...inSearch];
}

/** The different requests that a seat's provider makes for its task from now on, in order. Its job ends when it has been asked about. */
function watched(seat: Seat): readonly Request[] {
  const requests: Request[] = [];
  let isEnding = false;
  const end = async () => {
    await delay(storyMs);
    isEnding = true;
    // What is on its way is answered before.
    await delay(storyMs);
    seat.mayEnd = true;
  };
  void observe(seat, (request) => {
    if (requests.some(({ name }) => name === request.name)) return;
    requests.push(request);
    if (isQuestion(request)) void end();
  });
  void cutUntilEnded(seat, () => isEnding);
  return requests;
}

/** The request that a seat has just made, and whether it has asked for its job. */
const lastRequests = new WeakMap<Seat, Request>();
const asked = new WeakSet<Seat>();
const [ofAsked, ofEnded] = [', asked', ', ended'];

/** Names are without those of jobs, and with what the task has come to. */
async function observe(seat: Seat, onRequest: (request: Request) => void = () => undefined): Promise<void> {
  await seat.proxy.play(faults['passes a proxy'], (sent) => {
    lastRequests.delete(seat);
    // A worker asks so when it starts, whatever tasks there are.
    if (sent.path === '/object_info') return false;
    const [address = ''] = sent.path.split('?');
    const parts = address.split('/').map((part) => (part.length > 8 && /\d/.test(part) ? '*' : part));
    const state = seat.isEnded ? ofEnded : asked.has(seat) ? ofAsked : '';
    const request = { name: `${sent.method} ${parts.join('/')}${state}`, isCreate: seat.kind.isCreate(sent) };
    if (request.isCreate) asked.add(seat);
    lastRequests.set(seat, request);
    onRequest(request);
    return false;
  });
}

/** About a job that has not ended, as far as anybody knows. */
function isQuestion({ name, isCreate }: Request): boolean {
  return name.endsWith(ofAsked) && !isCreate;
}

/** So that no question is asked before the end of the job and answered after it. */
async function cutUntilEnded(seat: Seat, isEnding: () => boolean): Promise<void> {
  await seat.proxy.play(faults['is cut before the upstream reads it'], () => {
    const request = lastRequests.get(seat);
    const isCut = request !== undefined && isQuestion(request) && isEnding();
    if (isCut) cuts.set(seat, cutsOf(seat) + 1);
    return isCut;
  });
}

/** Requests of a seat that were cut since its proxy was healed. */
const cuts = new WeakMap<Seat, number>();

function cutsOf(seat: Seat): number {
  return cuts.get(seat) ?? 0;
}

/** What happens to a task after so many deaths: it comes to the next one, or its job may end and it with it. */
async function prepare({ seat, deaths }: Pick<Doomed, 'seat' | 'deaths'>, time: number): Promise<void> {
  const { proxy } = seat;
  if (time > 0) await proxy.heal();
  cuts.delete(seat);
  const next = deaths[time];
  seat.mayEnd ||= next === undefined || next.name.endsWith(ofEnded);
  if (next === undefined) return;
  await observe(seat);
  if (next.name.endsWith(ofEnded)) await cutUntilEnded(seat, () => true);
  const held = { forwarded: next.when === 'before' ? 0 : 1, reply: 'never' } as const;
  await proxy.play(held, () => lastRequests.get(seat)?.name === next.name);
}

async function untilAllAreAt(tasks: readonly Doomed[], time: number): Promise<void> {
  for (const { seat, deaths } of tasks) {
    const death = deaths[time];
    if (death === undefined) continue;
    await waitFor(`${seat.name} to come to ${death.name}`, () => (seat.proxy.met() > cutsOf(seat) ? true : undefined));
  }
}

async function judge({ database, settings }: TestEnvironment, { seat, taskId, accountId, deaths }: Doomed) {
  const { db } = database;
  const { kind, upstream, prompt } = seat;
  const task = await findTask(db, taskId);
  const isLost = deaths.some(({ isCreate, when }) => isCreate && !isFound(kind, when));
  assert.equal(task?.state, isLost ? 'fail' : 'success', JSON.stringify(task?.failure));
  assert.equal(task.failure?.failCode, isLost ? 'provider_unavailable' : undefined);
  const entries = (await listTaskEntries(db, taskId)).map((entry) => entry.kind);
  assert.deepEqual(entries, isLost ? ['charge', 'refund'] : ['charge']);
  assert.equal((await findAccount(db, accountId))?.balance, isLost ? credits : credits - charge);
  const made = await upstream.books.jobsFor(prompt);
  // A model that lives in its call, on a machine of the operator's own, runs anew for each of the three workers.
  assert.ok(made.length <= (kind.endsAlone === true ? 3 : 1), JSON.stringify(made));
  if (!isLost) assert.equal(made.at(-1)?.state, 'succeeded');
  const outcomes = (await listProviderJobs(db, taskId)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes.slice(-1), [isLost ? 'abandoned' : 'success']);
  const { poster, video, staged } = mediaKeysOf(taskId);
  const folders = [video, staged].map((key) => dirname(join(settings.dataFolder, 'results', key)));
  const files = (await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))).flat().toSorted();
  assert.deepEqual(files, isLost ? [] : [basename(poster), basename(video)]);
}

/** Whether the job of a create that had no answer is found, or is surely not there and made then. */
function isFound({ lostJobs }: Kind, when: Death['when']): boolean {
  return lostJobs === 'named' || (lostJobs === 'listed' && when === 'after');
}

async function withStage(names: readonly string[], story: (stage: Stage) => Promise<void>): Promise<void> {
  const environment = await createTestEnvironment();
  const { database, settings } = environment;
  const seatings = [...kinds].flatMap(([kindName, kind]) =>
    !names.includes(kindName) ? [] : Array.from({ length: seatsOfKind }, () => ({ kindName, kind })),
  );
  const service = await startKindService(environment, seatings, { submitSeconds: 120, deadlineSeconds });
  const temporal = connectTemporal(settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(settings.taskQueue));
  const begin = async (seat: Seat) => {
    const accountId = await createAccount(database.db, { name: seat.name, credits });
    const taskId = await acceptTestTask(database.db, accountId, { ...taskParam(seat.prompt), model: seat.name });
    await engine.startTask({ taskId, accountId, model: seat.name });
    return { seat, taskId, accountId };
  };
  const workers: ChildProcess[] = [];
  const startWorker = () => {
    const child = startProgram('../../src/main/worker.js', [], {
      env: { ...environment.environment, ...service.variables },
    });
    workers.push(child);
    return {
      kill: async () => {
        child.kill('SIGKILL');
        assert.equal((await endOf(child)).signal, 'SIGKILL');
      },
    };
  };
  try {
    await story({ environment, seats: service.seats, begin, startWorker });
  } finally {
    await endPrograms(workers);
    await temporal.close();
    await service.close();
    await environment.close();
  }
}
