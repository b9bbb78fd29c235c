import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findBalance } from '../../src/accounts/account-usage.ts';
import { createAccount } from '../../src/accounts/accounts.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { taskEventId } from '../../src/tasks/task-event.ts';
import { failAndRefund } from '../../src/tasks/tasks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

function run(...args: readonly string[]) {
  return videogen({ ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) }, ...args);
}

async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run(...args, '--json');
  assert.equal(code, 0, stderr);
  // A command with --json prints one JSON object.
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('an operator sets, shows and removes an event endpoint, with each change in the log, and lists events', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'studio', credits: 1_000 });
  assert.deepEqual(await json('event', 'endpoint', accountId), { endpoint: null });
  const url = 'https://studio.example.com/events';
  const types = ['task.succeeded', 'task.failed', 'task.cancelled', 'key.cap_reached', 'balance.low'];
  const endpoint = { url, types };
  assert.deepEqual(await json('event', 'set', accountId, '--url', url, '--low-balance', '900'), { endpoint });
  assert.deepEqual(await findBalance(db, accountId), { balance: 1_000, lowBalance: 900 });
  assert.deepEqual(await json('event', 'endpoint', accountId), { endpoint });
  const taskId = await acceptTestTask(db, accountId, taskParam('events'));
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'Cancelled.' });
  const { stdout } = await run('event', 'list', accountId, '--type', 'task.cancelled');
  assert.match(stdout, new RegExp(`^EVENT .*\n${taskEventId(taskId)} .* task.cancelled  pending  0 +${taskId}\n$`));
  const { events } = await json('event', 'list', accountId);
  assert.ok(Array.isArray(events) && events.length === 2);
  assert.deepEqual(await json('event', 'remove', accountId), { accountId, removed: true });
  assert.deepEqual(await json('event', 'remove', accountId), { accountId, removed: false });
  const secrets = [await json('callback-secret', 'show', accountId)];
  secrets.push(await json('callback-secret', 'show', accountId, '--events'));
  secrets.push(await json('callback-secret', 'rotate', accountId, '--events', '--overlap', '60'));
  assert.equal(new Set(secrets.map(({ secret }) => secret)).size, 3);
  const actions = (await listActions(db, { accountId, limit: 10 })).map(({ action }) => action);
  assert.deepEqual(actions, ['event_secret.rotate', 'events.remove', 'events.set']);
});

for (const [options, message] of [
  [['--url', 'http://10.0.0.1/'], /invalid --url: must not point to a private or reserved address/],
  [['--url', 'studio'], /invalid --url: must be an http or https URL/],
  [['--url', 'https://studio.example.com/', '--types', 'task.lost'], /Types are task.succeeded/],
] as const) {
  test(`event set ${options.join(' ')} is refused`, async () => {
    const accountId = await createAccount(database.db, { name: 'studio', credits: 0 });
    const { code, stderr } = await run('event', 'set', accountId, ...options);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
    assert.deepEqual(await json('event', 'endpoint', accountId), { endpoint: null });
  });
}
