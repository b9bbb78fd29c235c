import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import type { CreateOutcome, NewTask } from '../../../src/tasks/accept/acceptance-contract.ts';
import { findAccount, lockAccount } from '../../../src/accounts/accounts.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { createDatabase } from '../../../src/platform/database/database.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, patientDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// SDKs repeat a create whose response was lost, without an Idempotency-Key, and mark the repeat.

const price = 132;
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

type Client = { readonly accountId: string; readonly by: { readonly kind: 'key'; readonly keyId: string } };

async function newClient(): Promise<Client> {
  const accountId = await createAccount(database.db, { name: 'a', credits: 100 * price });
  return { accountId, by: await newKey(accountId) };
}

async function newKey(accountId: string): Promise<Client['by']> {
  const created = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes: ['tasks:write'] });
  assert.ok(created);
  return { kind: 'key', keyId: created.keyId };
}

function taskOf(client: Client, more: Partial<NewTask> = {}): NewTask {
  return { taskId: uuidv7(), ...client, ...requestOf(taskParam('repeat')), ...listedTerms, ...more };
}

const idOf = (answer: CreateOutcome) => ('taskId' in answer ? answer.taskId : assert.fail(answer.kind));

async function paidTasks({ accountId }: Client): Promise<number> {
  return 100 - ((await findAccount(database.db, accountId))?.balance ?? NaN) / price;
}

test('a repeat returns the task that its key created with the same request, and charges nothing', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newClient();
  const first = await accept(taskOf(client));
  const repeat = await accept(taskOf(client, { attempt: 1 }));
  assert.equal(repeat.kind, 'replayed');
  assert.equal(idOf(repeat), idOf(first));
  assert.equal(await paidTasks(client), 1);
});

test('a repeat finds the task that is as old as its attempts can have taken, and no older one', async () => {
  const accept = createTaskAcceptor(database.db);
  const repeatAfter = async (seconds: number, repeatWindowMs: number) => {
    const client = await newClient();
    const first = await accept(taskOf(client));
    const text = `update tasks set created_at = created_at - $2 * interval '1 second' where account_id = $1`;
    await database.db.run({ name: 'test-age-tasks-by', text }, [client.accountId, seconds]);
    const repeat = await accept(taskOf(client, { attempt: 1, repeatWindowMs }));
    return repeat.kind === 'replayed' && idOf(repeat) === idOf(first);
  };
  assert.equal(await repeatAfter(300, 3_600_000), true);
  assert.equal(await repeatAfter(3_601, 3_600_000), false);
});

test('what is not a repeat is a new task: another request, another key, no mark, more than a minute later', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newClient();
  const first = await accept(taskOf(client));
  const others = [
    await accept(taskOf(client, { attempt: 1, ...requestOf(taskParam('another')) })),
    await accept(taskOf({ ...client, by: await newKey(client.accountId) }, { attempt: 1 })),
    await accept(taskOf(client)),
  ];
  const text = `update tasks set created_at = created_at - interval '61 seconds' where account_id = $1`;
  await database.db.run({ name: 'test-age-tasks', text }, [client.accountId]);
  const late = await accept(taskOf(client, { attempt: 1 }));
  const answers = [first, ...others, late];
  assert.deepEqual(
    answers.map(({ kind }) => kind),
    answers.map(() => 'accepted'),
  );
  assert.equal(new Set(answers.map(idOf)).size, answers.length);
  assert.equal(await paidTasks(client), answers.length);
});

test('a repeat of a task that has failed, and is refunded, is a new task', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newClient();
  const first = await accept(taskOf(client, { attempt: 0 }));
  await failAndRefund(database.db, idOf(first), { failCode: 'internal', failMsg: 'the worker failed' });
  const repeat = await accept(taskOf(client, { attempt: 1 }));
  assert.equal(repeat.kind, 'accepted');
  assert.equal(await paidTasks(client), 1);
});

test('a repeat under an Idempotency-Key follows the key, not the request', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newClient();
  await accept(taskOf(client, { idempotencyKey: 'one' }));
  const other = await accept(taskOf(client, { idempotencyKey: 'two', attempt: 1 }));
  assert.equal(other.kind, 'accepted');
  assert.equal(await paidTasks(client), 2);
});

test('a first attempt and its repeats that wait for the account together become one task, in either order', async () => {
  for (const isFirstSent of [true, false]) {
    // Each attempt reaches another process: in one process they wait for each other.
    const processes = Array.from({ length: 4 }, () =>
      createDatabase({ url: database.url, poolSize: 1, ...patientDatabase }),
    );
    const [accept, ...others] = processes.map((db) => createTaskAcceptor(db));
    assert.ok(accept);
    const client = await newClient();
    const { release, holding } = await holdAccount(client.accountId);
    const first = taskOf(client, { attempt: 0 });
    const sent = isFirstSent ? [accept(first)] : [];
    await waitFor('the first attempt to wait', async () => (await waitingForLocks()) === sent.length);
    const repeats = others.map((acceptRepeat, index) => acceptRepeat(taskOf(client, { attempt: index + 1 })));
    await waitFor('the repeats to wait', async () => (await waitingForLocks()) === sent.length + repeats.length);
    release();
    await holding;
    const late = isFirstSent ? [] : [accept(first)];
    const answers = await Promise.all([...sent, ...repeats, ...late]);
    await Promise.all(processes.map((db) => db.close()));
    assert.equal(new Set(answers.map(idOf)).size, 1);
    assert.equal(await paidTasks(client), 1);
  }
});

/** Locks the account until `release` is called. */
async function holdAccount(accountId: string) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding = Promise.resolve();
  await new Promise<void>((resolve) => {
    holding = database.db.transaction(async (run) => {
      await lockAccount({ run }, accountId);
      resolve();
      await released;
    });
  });
  return { release, holding };
}

async function waitingForLocks(): Promise<number> {
  const text = `select count(*)::int as count from pg_locks where not granted
    and pid in (select pid from pg_stat_activity where datname = current_database())`;
  const [row] = await database.db.run<{ count: number }>({ name: 'test-waiting', text }, []);
  return row?.count ?? 0;
}

test('a repeat whose commit is retried returns its own task, also if the same request has become another task since', async () => {
  const accept = createTaskAcceptor(database.db);
  const client = await newClient();
  const repeat = taskOf(client, { attempt: 1 });
  const other = taskOf(client);
  const answers = [await accept(repeat), await accept(other), await accept(repeat)];
  assert.deepEqual(
    answers.map((answer) => [answer.kind, idOf(answer)]),
    [
      ['accepted', repeat.taskId],
      ['accepted', other.taskId],
      ['replayed', repeat.taskId],
    ],
  );
  assert.equal(await paidTasks(client), 2);
});

test('a repeat that is refused says why, and charges nothing', async () => {
  const accept = createTaskAcceptor(database.db);
  const accountId = await createAccount(database.db, { name: 'poor', credits: price - 1 });
  const answer = await accept(taskOf({ accountId, by: await newKey(accountId) }, { attempt: 1 }));
  assert.deepEqual(answer, { kind: 'insufficient_credits', required: price, balance: price - 1 });
});

test('a repeat whose statement fails is neither accepted nor charged', async () => {
  const client = await newClient();
  const accept = createTaskAcceptor({
    ...database.db,
    transaction: (work) =>
      database.db.transaction(async (run) => {
        await work(run);
        throw new Error('the process stops before the commit');
      }),
  });
  await assert.rejects(accept(taskOf(client, { attempt: 1 })), /before the commit/);
  assert.equal(await paidTasks(client), 0);
});
