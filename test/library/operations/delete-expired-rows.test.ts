import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createHousekeepingStepActivity } from '../../../activities/maintenance/housekeeping.ts';
import { type HousekeepingStep, housekeepingSteps } from '../../../src/temporal/schedules/housekeeping-steps.ts';
import type { Actor } from '../../../src/accounts/operators/actors-and-actions.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { deleteExpiredContent } from '../../../src/tasks/end/content-deletion-rows.ts';
import { eraseUsersWithoutAccount } from '../../../src/accounts/people/erasure.ts';
import { invitePersonAs, setUserIsOperatorAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { rolledBack } from '../../support/database/rolled-back.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { deleteMembership, raiseRightsByInvitation } from '../../../src/accounts/people/memberships.ts';
import { intendOwnMachineJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import {
  deleteExpiredEventsWithoutTask,
  deleteExpiredCreateAttempts,
  deleteExpiredLinks,
  deleteExpiredProofs,
  deleteExpiredSecurityEvents,
  deleteExpiredSessions,
  deleteExpiredSignInTries,
} from '../../../src/library/operations/delete-expired-rows.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { createUser, findUser } from '../../../src/accounts/people/users.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

/** A whole number of milliseconds, so that the boundary is exact. */
const limitMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const actor: Actor = { kind: 'command_line', name: 'ada' };

async function query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return database.db.run({ name: 'test-query', text, plannedAnew: true }, values);
}

let people = 0;
const newUser = () =>
  createUser(database.db, { email: `user-${(people += 1)}@example.com`, passwordHash: 'x', isOperator: false });

/** Each statement inserts a row with the given time. */
const kinds: readonly [
  deletePage: typeof deleteExpiredSecurityEvents,
  table: string,
  column: string,
  insert: string,
][] = [
  [
    deleteExpiredLinks,
    'one_time_links',
    'expires_at',
    `insert into one_time_links (id, hash, purpose, email, expires_at)
    values (gen_random_uuid(), sha256($2::text::bytea), 'reset', 'a@b.test', to_timestamp($1::float8 / 1000))`,
  ],
  [
    deleteExpiredSessions,
    'sessions',
    'expires_at',
    `insert into sessions (id, hash, user_id, address, user_agent, expires_at)
    select gen_random_uuid(), sha256($2::text::bytea), id, '10.0.0.1', 'a', to_timestamp($1::float8 / 1000) from users limit 1`,
  ],
  [
    deleteExpiredProofs,
    'pending_proofs',
    'expires_at',
    `insert into pending_proofs (hash, kind, details, expires_at)
    values (sha256($2::text::bytea), 'oidc', '{}', to_timestamp($1::float8 / 1000))`,
  ],
  [
    deleteExpiredSignInTries,
    'sign_in_tries',
    'created_at',
    `insert into sign_in_tries (email_hash, address, created_at)
    values (sha256($2::text::bytea), '10.0.0.1', to_timestamp($1::float8 / 1000))`,
  ],
  [
    deleteExpiredCreateAttempts,
    'create_attempts',
    'created_at',
    `insert into create_attempts (attempt_id, task_id, created_at)
    values ($2::text::uuid, $2::text::uuid, to_timestamp($1::float8 / 1000))`,
  ],
  [
    deleteExpiredEventsWithoutTask,
    'callback_deliveries',
    'finished_at',
    `with account as (insert into accounts (id, name) values (gen_random_uuid(), 'notified') returning id)
    insert into callback_deliveries (account_id, event, url, details, state, finished_at)
    select id, 'balance.low', 'http://events.test/' || $2, '{}', 'failed', to_timestamp($1::float8 / 1000) from account`,
  ],
  [
    deleteExpiredSecurityEvents,
    'security_events',
    'created_at',
    `insert into security_events (kind, email, details, created_at)
    values ('sign_in_failed', $2, '{}', to_timestamp($1::float8 / 1000))`,
  ],
];

for (const [deletePageOf, table, column, insert] of kinds) {
  test(`${table} older than their limit are deleted, a page at a time, and nothing at the limit`, async () => {
    const { db } = database;
    await newUser();
    for (const offsetMs of [-3, -2, -1, 0, 1]) await query(insert, [limitMs + offsetMs, randomUUID()]);
    const deletePage = () => deletePageOf(db, limitMs, 2);
    assert.deepEqual([await deletePage(), await deletePage(), await deletePage()], [2, 1, 0]);
    const left = await query(`select (extract(epoch from ${column}) * 1000)::bigint as at from ${table} order by 1`);
    assert.deepEqual(
      left.map(({ at }) => at),
      [limitMs, limitMs + 1],
    );
    assert.equal(await deletePageOf(db, limitMs + 2, 10), 2);
  });
}

test('callbacks of tasks are not deleted with the events about no task', () =>
  rolledBack(database.db, async (db) => {
    const accountId = await createAccount(db, { name: 'called back', credits: 1_000 });
    const taskId = await acceptTestTask(db, accountId, taskParam('a test', {}, 'http://receiver.test/'));
    await failAndRefund(db, taskId, { failCode: 'internal', failMsg: 'It failed.' });
    const end = `update callback_deliveries set state = 'failed', finished_at = to_timestamp($2::float8 / 1000) where task_id = $1`;
    await db.run({ name: 'test-end-callback', text: end }, [taskId, limitMs - 1]);
    assert.equal(await deleteExpiredEventsWithoutTask(db, limitMs, 100), 0);
    const text = 'select id from callback_deliveries where task_id = $1';
    assert.equal((await db.run({ name: 'test-callbacks', text }, [taskId])).length, 1);
  }));

/** The age at which housekeeping deletes the rows of each table, from the time in its column on. */
const dayMs = 86_400_000;
const ages: Readonly<Record<string, [step: HousekeepingStep, ageMs: number]>> = {
  one_time_links: ['deleteExpiredLinks', 7 * dayMs],
  sessions: ['deleteExpiredSessions', 0],
  pending_proofs: ['deleteExpiredProofs', 0],
  sign_in_tries: ['deleteExpiredSignInTries', 3_600_000],
  create_attempts: ['deleteExpiredCreateAttempts', 7 * dayMs],
  callback_deliveries: ['deleteExpiredAccountEvents', 90 * dayMs],
  security_events: ['deleteExpiredSecurityEvents', 90 * dayMs],
};

async function runStep(step: HousekeepingStep, promptsMs?: number): Promise<void> {
  const { log, events, media, settings } = workerParts(database.db, tmpdir(), []);
  const engine = { deleteTaskHistories: () => Promise.resolve(true) };
  const retention = { ...settings.retention, promptsMs };
  const run = createHousekeepingStepActivity({ db: database.db, log, events, media, engine, retention });
  await silentActivity({ workflowId: 'housekeeping' }, () => run(step));
}

const countOf = async (table: string) => (await query(`select count(*)::int as count from ${table}`))[0]?.['count'];
/** Far more than a slow machine takes from one statement to the next. */
const marginMs = 600_000;

for (const [, table, column, insert] of kinds) {
  test(`housekeeping deletes the rows of ${table} at their age, more than a page of them, and no younger one`, async () => {
    const [step, ageMs] = ages[table] ?? assert.fail(`no age of ${table}`);
    await newUser();
    await runStep(step, 0);
    const earlier = await countOf(table);
    const limit = Date.now() - ageMs;
    await query(insert, [limit + marginMs, randomUUID()]);
    await Promise.all(Array.from({ length: 201 }, () => query(insert, [limit - marginMs, randomUUID()])));
    await runStep(step);
    assert.equal(await countOf(table), Number(earlier) + 1);
    const [oldest] = await query(
      `select (extract(epoch from min(${column})) * 1000)::bigint as at from ${table} where ${column} < to_timestamp($1::float8 / 1000)`,
      [limit + 2 * marginMs],
    );
    assert.equal(oldest?.['at'], limit + marginMs);
    await runStep(step, 0);
  });
}

test('security events are deleted by their retention only: every other statement is still refused', async () => {
  await query(`insert into security_events (kind, details) values ('signed_in', '{}')`);
  await deleteExpiredSecurityEvents(database.db, limitMs, 10);
  for (const text of [
    'delete from security_events',
    `update security_events set address = 'x'`,
    'truncate security_events',
  ])
    await assert.rejects(query(text), /is not allowed/);
});

const unattachedSince = async (userId: string) =>
  (await query('select unattached_since as since from users where id = $1', [userId]))[0]?.['since'];

test('a person counts as unattached from the loss of the last account and of the operator’s right on', async () => {
  const { db } = database;
  const [first, second] = [
    await createAccount(db, { name: 'first', credits: 0 }),
    await createAccount(db, { name: 'second', credits: 0 }),
  ];
  const user = await newUser();
  const { userId } = user;
  const enter = (accountId: string) =>
    raiseRightsByInvitation(db, user, { accountId, role: 'viewer', isOperator: false });
  const checks: [what: string, change: () => Promise<unknown>, isUnattached: boolean][] = [
    ['a new user', () => Promise.resolve(), true],
    ['in an account', () => enter(first), false],
    ['in two accounts', () => enter(second), false],
    ['in one again', () => deleteMembership(db, first, userId), false],
    ['an operator', () => setUserIsOperatorAs(db, actor, { userId }, true), false],
    ['an operator without an account', () => deleteMembership(db, second, userId), false],
    [
      'nothing',
      () =>
        newUser()
          .then((other) => query('update users set is_operator = true where id = $1', [other.userId]))
          .then(() => setUserIsOperatorAs(db, actor, { userId }, false)),
      true,
    ],
    ['back in an account', () => enter(first), false],
    ['its account closed', () => closeAccountAs(db, actor, { accountId: first, reason: 'a test' }), true],
  ];
  for (const [what, change, isUnattached] of checks) {
    await change();
    assert.equal(
      (await unattachedSince(userId)) !== undefined && (await unattachedSince(userId)) !== null,
      isUnattached,
      what,
    );
  }
});

test('a person is erased when they have had no account for the retention, and no invitation is open', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'with people', credits: 0 });
  const users = { old: await newUser(), atLimit: await newUser(), member: await newUser(), invited: await newUser() };
  const operator = await newUser();
  await query('update users set is_operator = true where id = $1', [operator.userId]);
  await query('insert into memberships (account_id, user_id, role) values ($1, $2, $3)', [
    accountId,
    users.member.userId,
    'viewer',
  ]);
  await invitePersonAs(db, actor, { email: users.invited.email, isOperator: false, accountId, role: 'viewer' });
  await query('update users set unattached_since = to_timestamp($1::float8 / 1000)', [limitMs - 1]);
  await query('update users set unattached_since = to_timestamp($1::float8 / 1000) where id = $2', [
    limitMs,
    users.atLimit.userId,
  ]);
  const erased = await eraseUsersWithoutAccount(db, limitMs, 100);
  assert.ok(erased.includes(users.old.userId));
  assert.equal(await findUser(db, users.old.userId), undefined);
  for (const { userId, email } of [users.atLimit, users.member, users.invited, operator]) {
    assert.ok(!erased.includes(userId));
    assert.equal((await findUser(db, userId))?.email, email);
  }
  assert.deepEqual(await eraseUsersWithoutAccount(db, limitMs, 100), [], 'a second run finds nothing');
});

test('content of finished tasks is deleted after its retention, and never while a job may run or a callback is owed', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'content', credits: 100_000 });
  const accept = (callBackUrl?: string) => acceptTestTask(db, accountId, taskParam('a secret', {}, callBackUrl));
  const failure = { failCode: 'internal', failMsg: 'It failed.' } as const;
  const tasks = {
    succeeded: await accept(),
    failed: await accept(),
    atLimit: await accept(),
    running: await accept(),
    owed: await accept('http://receiver.test/'),
    unsettled: await accept(),
  };
  await intendOwnMachineJob(db, { taskId: tasks.unsettled, ordinal: 1, provider: 'studio' });
  await completeTask(db, tasks.succeeded, madeUpResult);
  for (const taskId of [tasks.failed, tasks.atLimit, tasks.owed, tasks.unsettled])
    await failAndRefund(db, taskId, failure);
  await query('alter table tasks disable trigger final_tasks_never_change');
  await query(
    `update tasks set created_at = to_timestamp($1::float8 / 1000 - 60),
      completed_at = case when completed_at is not null then to_timestamp(($1::float8 - case when id = $2 then 0 else 1 end) / 1000) end`,
    [limitMs, tasks.atLimit],
  );
  await query('alter table tasks enable trigger final_tasks_never_change');
  const withContent = async () => {
    const entries = await Promise.all(
      Object.entries(tasks).map(
        async ([name, taskId]) => [name, (await findTask(db, taskId))?.param.input.prompt] as const,
      ),
    );
    return entries.filter(([, prompt]) => prompt === 'a secret').map(([name]) => name);
  };
  assert.equal(await deleteExpiredContent(db, limitMs, 100), 2);
  assert.deepEqual(await withContent(), ['atLimit', 'running', 'owed', 'unsettled']);
  assert.equal(await deleteExpiredContent(db, limitMs, 100), 0);
  await endProviderJob(db, { taskId: tasks.unsettled, ordinal: 1, outcome: 'fail', failure });
  await query(`update callback_deliveries set state = 'failed', finished_at = now() where task_id = $1`, [tasks.owed]);
  assert.equal(await deleteExpiredContent(db, limitMs + 1, 1), 1, 'a page has a limit');
  assert.equal(await deleteExpiredContent(db, limitMs + 1, 100), 2);
  assert.deepEqual(await withContent(), ['running']);
});

test('housekeeping deletes expired records, and prompts only where their retention is set', async () => {
  const { db } = database;
  const folder = await mkdtemp(join(tmpdir(), 'videogen-retention-'));
  try {
    const accountId = await createAccount(db, { name: 'housekeeping', credits: 100_000 });
    const taskId = await acceptTestTask(db, accountId, taskParam('a secret'));
    await completeTask(db, taskId, madeUpResult);
    await query(
      `insert into security_events (kind, details, created_at) values ('signed_in', '{}', now() - interval '91 days')`,
    );
    const request = (interval: string) =>
      query(`insert into api_requests (id, account_id, ended_at, duration_ms, method, endpoint)
        values (gen_random_uuid(), '${accountId}', now() - interval '${interval}', 1, 'GET', '/')`);
    await request('7 days 1 minute');
    await request('6 days 23 hours');
    const countRequests = async () => (await query('select count(*)::int as count from api_requests'))[0]?.['count'];
    await query(
      `insert into callback_deliveries (account_id, event, url, details, state, finished_at, created_at)
      select $1, 'balance.low', 'http://events.test/' || days, '{}', case days when 92 then 'pending' else 'delivered' end,
        case days when 92 then null else now() - days * interval '1 day' end, now() - interval '92 days'
      from unnest(array[89, 91, 92]) days`,
      [accountId],
    );
    const notices = async () =>
      (await query('select url from callback_deliveries where task_id is null order by url')).map(({ url }) => url);
    const countOld = async () =>
      (
        await query(`select count(*)::int as count from security_events where created_at < now() - interval '90 days'`)
      )[0]?.['count'];
    const { log, events, media, settings } = workerParts(db, folder, []);
    const deps = { db, log, events, media, engine: { deleteTaskHistories: () => Promise.resolve(true) } };
    const run = async (promptsMs: number | undefined) => {
      const housekeep = createHousekeepingStepActivity({ ...deps, retention: { ...settings.retention, promptsMs } });
      for (const step of housekeepingSteps) await silentActivity({ workflowId: 'housekeeping' }, () => housekeep(step));
    };
    const promptOf = async () => (await findTask(db, taskId))?.param.input.prompt;
    await run(undefined);
    assert.deepEqual([await countOld(), await promptOf(), await countRequests()], [0, 'a secret', 1]);
    assert.deepEqual(await notices(), ['http://events.test/89', 'http://events.test/92'], 'one is still owed');
    // The task ended before this run.
    await run(-1000);
    assert.equal(await promptOf(), '(deleted)');
    assert.deepEqual(await notices(), ['http://events.test/92'], 'they go with the prompts of their time');
  } finally {
    await rm(folder, { recursive: true });
  }
});
