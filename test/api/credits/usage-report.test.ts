import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { addTasksToUsageSums, usageQueriesByGroup } from '../../../src/credits/reports/usage-sums-and-latencies.ts';
import type { CreatorKeyOrPerson } from '../../../src/tasks/accept/acceptance-contract.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { setTaskTimes } from '../../support/database/aged-task.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newPerson, type Person } from '../../support/service/person.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

let service: HttpService;
let accountId: string;
let owner: Person;
let keyId: string;
before(async () => {
  service = await startHttpService();
  ({ accountId } = await service.newAccount(1_000_000));
  owner = await newPerson(service, { roles: { [accountId]: 'owner' } });
  keyId = await newKey('renders');
});
after(() => service.close());

async function newKey(name: string): Promise<string> {
  const made = await createKeyUnchecked(service.database.db, { accountId, name, scopes });
  assert.ok(made);
  return made.keyId;
}

/** All tasks cost 132 credits. */
const price = 132;
/** A moment of a day that has passed. */
const noon = Date.parse('2026-01-15T12:00:00Z');
const [day, nextDay] = ['2026-01-15', '2026-01-16'];

type Made = {
  readonly by?: CreatorKeyOrPerson;
  readonly model?: string;
  readonly state?: 'success' | 'fail' | 'waiting';
  /** The account; the one of the reports by default. */
  readonly of?: string;
};

/** A task of this past time, which took so long. */
async function newTask(createdAt: number, tookMs: number, made: Made = {}): Promise<void> {
  const { by, model, state = 'success', of = accountId } = made;
  const { db } = service.database;
  const param = taskParam('a boat');
  const taskId = await acceptTestTask(db, of, model === undefined ? param : { ...param, model }, by);
  if (state === 'success') await completeTask(db, taskId, madeUpResult);
  if (state === 'fail') await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  await setTaskTimes(service.database, taskId, { createdAt, endedAt: state === 'waiting' ? null : createdAt + tookMs });
}

type Counts = { readonly tasks: number; readonly succeeded: number; readonly failed: number; readonly credits: number };
type Report = {
  readonly days: readonly (Counts & {
    readonly day: string;
    readonly id: string | null;
    readonly name: string | null;
  })[];
  readonly models: readonly (Counts & { readonly model: string; readonly p50Ms: number; readonly p95Ms: number })[];
};

async function reportOf(query: string): Promise<Report> {
  const { status, json } = await owner.ask('GET', `/api/v1/usage?${query}`, { accountId });
  assert.equal(status, 200, json.msg);
  // The service checks its responses against their schema in tests.
  return json.data as unknown as Report;
}

test('a report is the same before, while and after housekeeping adds up the tasks, which it does once', async () => {
  const { db } = service.database;
  const person = { kind: 'person', userId: owner.userId } as const;
  const key = { kind: 'key', keyId } as const;
  await newTask(noon, 60_000, { by: key });
  await newTask(noon, 60_000, { by: key, state: 'fail' });
  await newTask(noon, 60_000, { by: person, model: 'other-model' });
  await newTask(noon, 0, { by: person, state: 'waiting' });
  await newTask(noon + 12 * 3_600_000, 60_000, { by: key });
  const range = `from=${day}&to=${nextDay}`;
  const read = async () => [
    await reportOf(range),
    await reportOf(`${range}&by=key`),
    await reportOf(`${range}&by=person`),
  ];
  const counted = await read();
  const [byModel, byKey, byPerson] = counted.map(({ days }) =>
    days.map((one) => [one.day, one.name ?? one.id, one.tasks, one.succeeded, one.failed, one.credits]),
  );
  assert.deepEqual(byModel, [
    [day, 'videogen-2.0-fast', 3, 1, 1, 2 * price],
    [day, 'other-model', 1, 1, 0, price],
    [nextDay, 'videogen-2.0-fast', 1, 1, 0, price],
  ]);
  assert.deepEqual(byKey, [
    [day, null, 2, 1, 0, 2 * price],
    [day, 'renders', 2, 1, 1, price],
    [nextDay, 'renders', 1, 1, 0, price],
  ]);
  assert.deepEqual(
    byPerson?.map(([, name, tasks]) => [typeof name === 'string' && name.includes('@'), tasks]),
    [
      [true, 2],
      [false, 2],
      [false, 1],
    ],
  );
  assert.deepEqual(
    counted[0]?.models.map(({ model, tasks, failed }) => [model, tasks, failed]),
    [
      ['videogen-2.0-fast', 4, 1],
      ['other-model', 1, 0],
    ],
  );

  const first = await addTasksToUsageSums(db, 1);
  assert.equal(first.tasks, 1);
  assert.deepEqual(await read(), counted);
  const runs = await Promise.all([
    addTasksToUsageSums(db, 100),
    addTasksToUsageSums(db, 100),
    addTasksToUsageSums(db, 100),
  ]);
  assert.equal(
    runs.reduce((sum, { tasks }) => sum + tasks, 0),
    3,
  );
  assert.deepEqual(await read(), counted);
  const [stored] = await db.run<{ tasks: number }>(
    { name: 'test-stored-usage', text: 'select sum(tasks)::int as tasks from usage_days where account_id = $1' },
    [accountId],
  );
  assert.deepEqual(stored, { tasks: 4 });
});

test('a task that has just ended is in the report, and in no sum until every earlier end is committed', async () => {
  // Its end is in an hour, so that it is recent also for a slow machine.
  await newTask(Date.now(), 3_600_000);
  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  assert.equal((await addTasksToUsageSums(service.database.db, 100)).tasks, 0);
  const { days } = await reportOf(`from=${yesterday}&to=${today}`);
  assert.deepEqual(
    days.map(({ tasks, credits }) => [tasks, credits]),
    [[1, price]],
  );
});

test('percentiles of the time to a video are within 5 %, and failed tasks do not count', async () => {
  const start = Date.parse('2026-02-01T00:00:00Z');
  for (let minute = 1; minute <= 20; minute += 1) await newTask(start, minute * 60_000, { model: 'timed' });
  await newTask(start, 24 * 3_600_000, { model: 'timed', state: 'fail' });
  for (const counted of [false, true]) {
    // One after the other, so that a bucket gets its tasks from several pages.
    if (counted) while ((await addTasksToUsageSums(service.database.db, 1)).tasks > 0);
    const [model] = (await reportOf('from=2026-02-01&to=2026-02-01')).models;
    assert.ok(model);
    for (const [value, minutes] of [
      [model.p50Ms, 10],
      [model.p95Ms, 19],
    ] as const) {
      assert.ok(Math.abs(value / (minutes * 60_000) - 1) < 0.05, `${value} ms instead of ${minutes} min`);
    }
  }
  const text = `select sum(tasks)::int as tasks from usage_latencies where model = 'timed'`;
  const [stored] = await service.database.db.run<{ tasks: number }>({ name: 'test-stored-latencies', text });
  assert.deepEqual(stored, { tasks: 20 });
});

test('groups beyond those with most credits are added up', async () => {
  const { db } = service.database;
  const start = Date.parse('2026-03-01T00:00:00Z');
  for (const [model, tasks] of [
    ['m1', 3],
    ['m2', 2],
    ['m3', 2],
    ['m4', 2],
  ] as const) {
    for (let count = 0; count < tasks; count += 1) await newTask(start, 1_000, { model });
  }
  const days = { accountId, from: '2026-03-01', to: '2026-03-01' };
  const rows = await usageQueriesByGroup.model(db, { ...days, maxGroups: 2 });
  assert.deepEqual(
    rows.map(({ id, isRest, tasks }) => [id, isRest, tasks]),
    [
      ['m1', false, 3],
      ['m2', false, 2],
      [undefined, true, 4],
    ],
    'the rest is last, also with the most credits',
  );
  const { models } = await reportOf('from=2026-03-01&to=2026-03-01');
  assert.deepEqual(
    models.map(({ model, tasks, credits }) => [model, tasks, credits]),
    [
      ['m1', 3, 3 * price],
      ['m2', 2, 2 * price],
      ['m3', 2, 2 * price],
      ['m4', 2, 2 * price],
    ],
    'by credits, then by name',
  );
});

test('the file has the rows of the report, and names that are no formulas', async () => {
  const formula = await newKey('=1+1');
  await newTask(Date.parse('2026-04-01T00:00:00Z'), 1_000, { by: { kind: 'key', keyId: formula } });
  const answer = await owner.ask('GET', '/api/v1/usage/export?from=2026-04-01&to=2026-04-02&by=key', { accountId });
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(
    answer.bytes.toString(),
    `day,id,name,tasks,succeeded,failed,credits\r\n2026-04-01,${formula},'=1+1,1,1,0,${price}\r\n`,
  );
});

test('200 for 92 days', async () => {
  const range = 'from=2026-05-01&to=2026-07-31';
  assert.deepEqual(await reportOf(range), { days: [], models: [] });
  assert.equal((await owner.ask('GET', `/api/v1/usage/export?${range}`, { accountId })).status, 200);
});

test('422 for more than 92 days, an end before the beginning, and days that no task can have', async () => {
  for (const query of [
    'from=2026-01-01&to=2026-04-03',
    'from=2026-01-02&to=2026-01-01',
    'from=2026-01-01&to=2026-01-01&by=day',
    'from=0000-01-01&to=0000-01-01',
    'from=1969-12-31&to=1970-01-01',
  ]) {
    for (const path of ['/api/v1/usage', '/api/v1/usage/export']) {
      const { status, json } = await owner.ask('GET', `${path}?${query}`, { accountId });
      assert.deepEqual([status, json.error], [422, 'invalid_request'], query);
    }
  }
});

test('a report has no task of another account, neither before nor after the tasks are added up', async () => {
  const start = Date.parse('2026-09-01T12:00:00Z');
  const { accountId: other } = await service.newAccount(1_000);
  await newTask(start, 60_000, { model: 'own' });
  for (const state of ['success', 'waiting'] as const) await newTask(start, 60_000, { of: other, model: 'own', state });
  for (const counted of [false, true]) {
    if (counted) await addTasksToUsageSums(service.database.db, 1_000);
    const { days, models } = await reportOf('from=2026-09-01&to=2026-09-01');
    assert.deepEqual([days.map(({ tasks }) => tasks), models.map(({ tasks }) => tasks)], [[1], [1]]);
  }
});
