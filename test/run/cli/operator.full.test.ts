import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { listApiKeys } from '../../../src/accounts/keys/keys.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { listSpendCapsOfAccount } from '../../../src/accounts/limits/spend-caps.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { findAndTouchOperatorByKey, listOperators } from '../../../src/accounts/operators/operator-keys.ts';
import { assertSince } from '../../support/assert-since.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

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

const latest = async () => (await listOperatorActions(database.db, { limit: 1 }))[0];
const countActions = async () => (await listOperatorActions(database.db, { limit: 1_000 })).length;

test('an operator is made with a key that is shown once, is listed without it, and is revoked for good', async () => {
  assert.deepEqual(await listOperators(database.db), [], 'none exists unless it is created');
  const sinceMs = Date.now();
  const { operatorId, key } = await run('operator', 'create', 'ada', '--expires', '90d');
  assert.match(String(key), /^vgop_[0-9A-Za-z]{36}$/);
  assert.deepEqual(await findAndTouchOperatorByKey(database.db, String(key)), { operatorId, name: 'ada' });
  assert.deepEqual((await latest())?.action, 'operators.create');
  assert.ok(!JSON.stringify(await latest()).includes(String(key)));
  const { operators } = await run('operator', 'list');
  const [shown] = operators as Record<string, unknown>[];
  assert.deepEqual([shown?.['operatorId'], shown?.['name'], shown?.['revokeTime']], [operatorId, 'ada', null]);
  assertSince(sinceMs, Number(shown?.['expireTime']) - 90 * 86_400_000);
  assert.ok(!JSON.stringify(operators).includes(String(key)));
  assert.deepEqual(await run('operator', 'revoke', String(operatorId)), { operatorId, revoked: true });
  assert.equal(await findAndTouchOperatorByKey(database.db, String(key)), undefined);
  assert.deepEqual((await latest())?.action, 'operators.revoke');
});

test('every change by the command line is in the log, with the user of the machine', async () => {
  const { accountId } = await run('account', 'create', 'studio', '--credits', '10');
  const id = String(accountId);
  await run('key', 'create', '--account', 'studio');
  assert.equal((await run('credits', 'grant', '5', '--account', 'studio', '--reason', 'thanks'))['balance'], 15);
  await run('callback-secret', 'rotate', '--account', id);
  await run('callback-secret', 'rotate', '--account', id, '--events');
  const actions = (await listOperatorActions(database.db, { accountId: id, limit: 100 })).toReversed();
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['accounts.create', 'keys.create', 'credits.grant', 'callback_secret.rotate', 'event_secret.rotate'],
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
      credits,
      '--account',
      accountId,
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
  const secrets = [await run('callback-secret', 'show', '--account', accountId)];
  secrets.push(await run('callback-secret', 'show', '--account', accountId, '--events'));
  assert.equal(new Set(secrets.map(({ secret }) => secret)).size, 2);
  const unknown = '01900000-0000-7000-8000-000000000000';
  await assert.rejects(run('credits', 'grant', '5', '--account', unknown, '--reason', 'x'), /account not found/);
  await assert.rejects(run('operator', 'revoke', unknown), /operator not found/);
  assert.equal(await countActions(), count);
});

test('an operator who lost a key creates another one with caps and for some models; a wrong account gets the names of all', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'capped', credits: 0 });
  const caps = ['--cap-day', '20', '--cap-month', '300', '--cap-total', '4000', '--models', 'videogen-2.0'];
  const { keyId, key } = await run('key', 'create', '--account', 'capped', ...caps);
  assert.match(String(key), /^vg_/);
  const found = await listSpendCapsOfAccount(db, accountId);
  assert.deepEqual(
    found.map(({ subjectId, period, credits }) => [subjectId, period, credits]),
    [
      [keyId, 'day', 20],
      [keyId, 'month', 300],
      [keyId, 'total', 4000],
    ],
  );
  assert.deepEqual((await listApiKeys(db, accountId))[0]?.models, ['videogen-2.0']);
  const typo = run('key', 'create', '--account', 'capped', '--models', 'videogen-2.1');
  await assert.rejects(typo, /--models: videogen-2\.1: unknown model/);
  const unknown = run('key', 'create', '--account', 'caped');
  await assert.rejects(unknown, /^Error: account not found: caped; the accounts are: .*\bcapped\b/);
});
