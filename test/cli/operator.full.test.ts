import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { after, before, test } from 'node:test';
import { createAccount } from '../../src/accounts/accounts.ts';
import { auditLedger } from '../../src/credits/ledger-audit.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { findOperator, listOperators } from '../../src/operators/operators.ts';
import { assertSince } from '../support/assert-since.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

async function run(...args: readonly string[]): Promise<Record<string, unknown>> {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  const { code, stdout, stderr } = await videogen(env, ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  // A command with --json prints one JSON object.
  return JSON.parse(stdout) as Record<string, unknown>;
}

const latest = async () => (await listActions(database.db, { limit: 1 }))[0];
const countActions = async () => (await listActions(database.db, { limit: 1_000 })).length;

test('an operator is made with a key that is shown once, is listed without it, and is revoked for good', async () => {
  assert.deepEqual(await listOperators(database.db), [], 'none exists unless it is created');
  const sinceMs = Date.now();
  const { operatorId, key } = await run('operator', 'create', 'ada', '--expires', '90d');
  assert.match(String(key), /^vgop_[0-9A-Za-z]{36}$/);
  assert.deepEqual(await findOperator(database.db, String(key)), { operatorId, name: 'ada' });
  assert.deepEqual((await latest())?.action, 'operators.create');
  assert.ok(!JSON.stringify(await latest()).includes(String(key)));
  const { operators } = await run('operator', 'list');
  const [shown] = operators as Record<string, unknown>[];
  assert.deepEqual([shown?.['operatorId'], shown?.['name'], shown?.['revokedAt']], [operatorId, 'ada', undefined]);
  assertSince(sinceMs, Number(shown?.['expiresAt']) - 90 * 86_400_000);
  assert.ok(!JSON.stringify(operators).includes(String(key)));
  assert.deepEqual(await run('operator', 'revoke', String(operatorId)), { operatorId, revoked: true });
  assert.equal(await findOperator(database.db, String(key)), undefined);
  assert.deepEqual((await latest())?.action, 'operators.revoke');
});

test('every change by the command line is in the log, with the user of the machine', async () => {
  const { accountId } = await run('account', 'create', 'studio', '--credits', '10');
  const id = String(accountId);
  const { keyId } = await run('key', 'create', '--account', id);
  await run('account', 'limits', id, '--unfinished', '7');
  assert.equal((await run('credits', 'grant', id, '5', '--reason', 'thanks'))['balance'], 15);
  await run('callback-secret', 'rotate', id);
  await run('key', 'revoke', String(keyId));
  const actions = (await listActions(database.db, { accountId: id, limit: 100 })).toReversed();
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['accounts.create', 'keys.create', 'accounts.limits', 'credits.grant', 'callback_secret.rotate', 'keys.revoke'],
  );
  const actor = { kind: 'command_line', name: userInfo().username };
  assert.deepEqual(
    actions.map((action) => action.actor),
    actions.map(() => actor),
  );
  assert.doesNotMatch(JSON.stringify(actions), /whsec_|vg_[0-9A-Za-z]{5}/);
});

test('a grant with an idempotency key is booked once', async () => {
  const accountId = await createAccount(database.db, { name: 'repeated', credits: 0 });
  const grant = (credits: string) =>
    run(
      'credits',
      'grant',
      accountId,
      credits,
      '--reason',
      'invoice',
      '--idempotency-key',
      `invoice of ${accountId}`.replaceAll(' ', '-'),
    );
  assert.deepEqual(await grant('5'), { accountId, granted: 5, balance: 5 });
  assert.deepEqual(await grant('5'), { accountId, granted: 0, balance: 5 });
  await assert.rejects(grant('6'), /used for another booking/);
});

test('reads and refused commands are not in the log', async () => {
  const accountId = await createAccount(database.db, { name: 'quiet', credits: 0 });
  const count = await countActions();
  await run('account', 'limits', accountId, '--unfinished', '1000');
  const unknown = '01900000-0000-7000-8000-000000000000';
  await assert.rejects(run('credits', 'grant', unknown, '5', '--reason', 'x'), /account not found/);
  await assert.rejects(run('operator', 'revoke', unknown), /operator not found/);
  assert.equal(await countActions(), count);
});
