import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import {
  endProviderJob,
  recordLateSuccess,
  freeSlotAndRecordCost,
  recordLeftoverJobEnd,
  succeedProviderJob,
} from '../../../src/tasks/jobs/job-ends.ts';
import {
  type JobOutcome,
  jobOutcomes,
  type JobState,
  jobStateRules,
  jobStateTable,
} from '../../../src/tasks/jobs/job-states.ts';
import { costBases, type JobRowKey } from '../../../src/tasks/jobs/provider-jobs.ts';
import {
  cooldownReasons,
  providerSwitchPositions,
  takesSlotSql,
} from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { reserveSlot, sweepSlots } from '../../../src/tasks/jobs/slots.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { jobState } from '../../support/tasks/job-transitions.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

// The declared table of job states, compared with the schema and with what the statements do.

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'states', credits: 1_000_000 });
});
after(() => database.close());

const pool = 'upstream/model';
const intend = (job: JobRowKey, jobId?: string) =>
  intendReservedJob(database.db, { ...job, pool, configHash: 'a'.repeat(64), config: '{}', jobId });
const accept = (job: JobRowKey) => recordCreatedJob(database.db, { ...job, jobId: 'made' });
const endUpstream = (job: JobRowKey) => freeSlotAndRecordCost(database.db, job);
const end = (outcome: JobOutcome) => (job: JobRowKey) => endProviderJob(database.db, { ...job, outcome });
const succeed = ({ taskId }: JobRowKey) => succeedProviderJob(database.db, taskId);
const arriveLate = (job: JobRowKey) => recordLeftoverJobEnd(database.db, { ...job, outcome: 'late_success' });

type Move = (job: JobRowKey) => Promise<unknown>;
/** What makes each change of the table. A change that the table gains needs an entry here. */
const moves: {
  readonly [From in JobState]: { readonly [To in (typeof jobStateTable)[From]['leadsTo'][number]]: Move };
} = {
  reserved: {
    unanswered: (job) => intend(job),
    in_request: (job) => intend(job, 'run'),
    not_created: async ({ taskId }) => {
      await failAndRefund(database.db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
      await sweepSlots(database.db, 100);
    },
  },
  unanswered: {
    running: accept,
    fail: end('fail'),
    not_created: end('not_created'),
    refused: end('refused'),
    abandoned: end('abandoned'),
  },
  in_request: {
    success: async (job) => {
      await endUpstream(job);
      await succeed(job);
    },
    fail: end('fail'),
    not_created: end('not_created'),
    refused: end('refused'),
    abandoned: end('abandoned'),
  },
  running: { succeeded: endUpstream, fail: end('fail'), abandoned: end('abandoned'), late_success: arriveLate },
  succeeded: { success: succeed, fail: end('fail'), abandoned: end('abandoned'), late_success: arriveLate },
  success: { late_success: ({ taskId }) => recordLateSuccess(database.db, taskId) },
  fail: {},
  not_created: { abandoned: accept },
  refused: {},
  abandoned: { late_success: arriveLate },
  late_success: {},
};

/** The states that lead to each state from a leased slot. */
const paths: Readonly<Record<JobState, readonly JobState[]>> = {
  reserved: [],
  unanswered: ['unanswered'],
  in_request: ['in_request'],
  running: ['unanswered', 'running'],
  succeeded: ['unanswered', 'running', 'succeeded'],
  success: ['unanswered', 'running', 'succeeded', 'success'],
  fail: ['unanswered', 'running', 'fail'],
  not_created: ['unanswered', 'not_created'],
  refused: ['unanswered', 'refused'],
  abandoned: ['unanswered', 'running', 'abandoned'],
  late_success: ['unanswered', 'running', 'late_success'],
};

async function move(job: JobRowKey, from: JobState, to: JobState): Promise<void> {
  const known: Readonly<Partial<Record<JobState, Move>>> = moves[from];
  await (known[to] ?? assert.fail(`nothing makes a ${from} job ${to}`))(job);
  assert.equal(await stateOf(job), to, `from ${from}`);
}

async function jobIn(state: JobState): Promise<JobRowKey> {
  const job = { taskId: await acceptTestTask(database.db, accountId, taskParam('a job')), ordinal: 1 };
  await reserveSlot(database.db, { ...job, accountId, pool, provider: 'upstream', limit: 10_000 });
  let at: JobState = 'reserved';
  for (const next of paths[state]) {
    await move(job, at, next);
    at = next;
  }
  assert.equal(await stateOf(job), state);
  return job;
}

async function stateOf({ taskId, ordinal }: JobRowKey): Promise<string | undefined> {
  const text = `select ${jobState} as state from provider_jobs where task_id = $1 and ordinal = $2`;
  const [row] = await database.db.run<{ readonly state: string }>({ name: 'test-state', text }, [taskId, ordinal]);
  return row?.state;
}

const states = Object.keys(jobStateTable) as JobState[]; // the keys of the declaration

test('each change of the table is made by a statement', async () => {
  for (const from of states) for (const to of jobStateRules[from].leadsTo) await move(await jobIn(from), from, to);
});

test('an ended job changes only as the table declares', async () => {
  for (const from of jobOutcomes) {
    const job = await jobIn(from);
    for (const outcome of jobOutcomes) assert.equal(await end(outcome)(job), undefined);
    await endUpstream(job);
    await succeed(job);
    assert.equal(await stateOf(job), from);
  }
});

test('a job takes its slot until it has ended upstream, and after it was abandoned until it is settled', async () => {
  const taking: JobState[] = [];
  for (const state of states) {
    const { taskId } = await jobIn(state);
    const text = `select exists (select from provider_jobs where task_id = $1 and ${takesSlotSql}) as takes`;
    const [row] = await database.db.run<{ readonly takes: boolean }>({ name: 'test-takes', text }, [taskId]);
    if (row?.takes === true) taking.push(state);
  }
  assert.deepEqual(taking, ['reserved', 'unanswered', 'in_request', 'running', 'abandoned']);
});

for (const [table, column, words] of [
  ['provider_jobs', 'outcome', jobOutcomes],
  ['provider_jobs', 'cost_basis', costBases],
  ['provider_pools', 'cooling_reason', cooldownReasons],
  ['provider_switches', 'state', providerSwitchPositions],
] as const) {
  test(`the check of ${table}.${column} allows what the code declares, and nothing else`, async () => {
    const text = `
select pg_get_constraintdef(c.oid) as definition from pg_constraint c
join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum]
where c.conrelid = $1::regclass and c.contype = 'c' and a.attname = $2`;
    const rows = await database.db.run<{ readonly definition: string }>({ name: 'test-check', text }, [table, column]);
    assert.equal(rows.length, 1);
    const allowed = [...String(rows[0]?.definition).matchAll(/'(\w+)'/g)].map(([, word]) => word);
    assert.deepEqual(allowed, words);
  });
}
