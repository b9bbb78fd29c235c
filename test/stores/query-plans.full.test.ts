import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { defaultModels } from '../../src/domain/models.ts';
import type { Actor } from '../../src/domain/operator.ts';
import { taskStates } from '../../src/domain/task.ts';
import * as lists from '../../src/stores/account-list.ts';
import { acceptTask, acceptBatch } from '../../src/stores/accept-task.ts';
import {
  createAccountKey,
  createApiKey,
  createKeyAs,
  listApiKeys,
  listApiKeysAfter,
  revokeApiKey,
  revokeKeyAs,
  rotateAccountKey,
} from '../../src/stores/keys.ts';
import * as accounts from '../../src/stores/accounts.ts';
import { newApiKey } from '../../src/stores/key-format.ts';
import { createCallerFinder, createTaskFinder, touchKeys } from '../../src/stores/callers.ts';
import { runAudit } from '../../src/stores/ledger-audit.ts';
import { deleteCursor, markReconciled, readCursor, readMaintenance, saveCursor } from '../../src/stores/maintenance.ts';
import * as consoleAssets from '../../src/stores/console-assets.ts';
import * as secrets from '../../src/stores/callback-secrets.ts';
import * as closures from '../../src/stores/account-closure.ts';
import * as deletions from '../../src/stores/content-deletion.ts';
import * as inspection from '../../src/stores/inspection.ts';
import * as settlement from '../../src/stores/settlement.ts';
import type { Database, Statement } from '../../src/stores/database.ts';
import * as deliveries from '../../src/stores/deliveries.ts';
import {
  cancelTaskAs,
  completeTask,
  confirmCharge,
  findGeneration,
  findTask,
  listEndedAmong,
  pauseGeneration,
  refundTask,
  recordGenerating,
  startGeneration,
  touchGenerations,
} from '../../src/stores/tasks.ts';
import {
  countStuckTasks,
  countUnfinishedTasks,
  listDueTerminations,
  listExpiredMedia,
  listTasks,
  listUnfinishedTasks,
  markMediaDeleted,
  markStuck,
  removeTermination,
} from '../../src/stores/task-list.ts';
import { bookCreditsAs, bookCredits, ledgerKinds, listTaskEntries, readBooks } from '../../src/stores/credits.ts';
import { listActions } from '../../src/stores/operator-actions.ts';
import { listPrices, readPriceSchedules, setPriceAs, withdrawPriceAs } from '../../src/stores/prices.ts';
import * as operators from '../../src/stores/operators.ts';
import * as pools from '../../src/stores/provider-pools.ts';
import * as slots from '../../src/stores/slots.ts';
import { readMargin } from '../../src/stores/margin.ts';
import { countAhead, findMaker } from '../../src/stores/task-maker.ts';
import { keepTiers, readTiers } from '../../src/stores/task-tiers.ts';
import * as installation from '../../src/stores/installation.ts';
import * as usage from '../../src/stores/usage.ts';
import * as ownDeliveries from '../../src/stores/own-deliveries.ts';
import * as uploads from '../../src/stores/uploads.ts';
import * as lostCalls from '../../src/stores/lost-calls.ts';
import * as jobs from '../../src/stores/provider-jobs.ts';
import * as erasure from '../../src/stores/erasure.ts';
import * as retention from '../../src/stores/retention.ts';
import * as events from '../../src/stores/security-events.ts';
import * as links from '../../src/stores/one-time-links.ts';
import * as members from '../../src/stores/members.ts';
import * as memberships from '../../src/stores/memberships.ts';
import * as passkeys from '../../src/stores/passkeys.ts';
import * as people from '../../src/stores/invite.ts';
import * as sessions from '../../src/stores/sessions.ts';
import * as signIns from '../../src/stores/sign-in.ts';
import * as users from '../../src/stores/users.ts';
import { disableAs, endSessionsAs, setOperatorAs } from '../../src/stores/people.ts';
import { beginProof, takeProof } from '../../src/stores/pending-proofs.ts';
import { readSchemaState } from '../../src/stores/schema-state.ts';
import { beginTry, succeedTry } from '../../src/stores/sign-in-tries.ts';
import { signInWithIdentity } from '../../src/stores/oidc-identities.ts';
import * as reports from '../../src/stores/worker-reports.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestAccount, type TestAccount } from '../support/service.ts';
import { acceptTestTask, listedPrices, madeUpResult, taskParam } from '../support/tasks.ts';

// The stores are used as the service uses them, on tables of some 10,000 rows, and PostgreSQL is asked how it would run every
// statement that comes along: once with the very values, and once for any values, as it does after five runs of one that is prepared.

/** Tables that grow with the number of tasks or of clients; the others hold one row, or faults of ours. */
const growing = ['accounts', 'api_keys', 'tasks', 'ledger_entries', 'provider_jobs', 'callback_secrets'].concat([
  'callback_deliveries',
  'callback_attempts',
  'operator_actions',
  'prices',
  'slot_waits',
  'uploads',
  'users',
  'memberships',
  'sessions',
  'one_time_links',
  'sign_in_tries',
  'security_events',
  'passkeys',
  'oidc_identities',
]);

/**
 * Runs once in the life of an installation, on a table that is empty or about to be found not to be; or asks PostgreSQL about itself,
 * for the doctor.
 */
const notPeriodic = ['create-first-account', 'find-first-account'].concat([
  'read-database-facts',
  'read-schema-state',
  'list-applied-migrations',
  'list-missing-rights',
]);

type Asked = { readonly statement: Statement; readonly values: readonly unknown[] };

let database: TestDatabase;
let account: TestAccount;
let client: pg.Client;
let watched: Database;
const asked = new Map<string, Asked>();

before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(manyRows);
  await client.query('analyze');
  account = await createTestAccount(database, 1_000_000);
  watched = watch(database.db);
});
after(async () => {
  await client.end();
  await database.close();
});

function watch(db: Database): Database {
  const note = (statement: Statement, values: readonly unknown[] = []) =>
    asked.set(statement.name, { statement, values });
  return {
    run: (statement, values) => {
      note(statement, values);
      return db.run(statement, values);
    },
    transaction: (work) =>
      db.transaction((inner) =>
        work((statement, values) => {
          note(statement, values);
          return inner(statement, values);
        }),
      ),
    close: () => db.close(),
  };
}

type Plan = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
};

/** A page of the audit is a tenth of these tables, and reading them whole is right then; of a table that has grown it is little. */
const smallPage = 100;

/** Growing tables that a statement reads from end to end. */
async function readWhole({ statement, values }: Asked): Promise<readonly string[]> {
  const few = values.map((value) => (Array.isArray(value) ? value.slice(0, smallPage) : value));
  const plans = [await planOf({ text: `explain (format json) ${statement.text}`, values: few })];
  if (!statement.plannedAnew && (await knowsGenericPlans()))
    plans.push(await planOf(`explain (generic_plan, format json) ${statement.text}`));
  return plans.flatMap(wholeTablesIn);
}

async function planOf(query: string | { text: string; values: unknown[] }): Promise<Plan> {
  // The one row of one column that `explain (format json)` answers.
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(query as pg.QueryConfig);
  const [row] = rows;
  assert.ok(row);
  return row['QUERY PLAN'][0].Plan;
}

async function knowsGenericPlans(): Promise<boolean> {
  const { rows } = await client.query<{ known: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as known`,
  );
  return rows[0]?.known === true;
}

function wholeTablesIn(plan: Plan): readonly string[] {
  const table = plan['Relation Name'] ?? '';
  const own = plan['Node Type'] === 'Seq Scan' && growing.includes(table) ? [table] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(wholeTablesIn)];
}

async function assertPlans(): Promise<void> {
  const whole: Record<string, readonly string[]> = {};
  for (const [name, one] of asked) {
    const tables = await readWhole(one);
    if (tables.length > 0) whole[name] = [...new Set(tables)];
  }
  assert.deepEqual(whole, {});
}

test('no statement of a request reads a growing table from end to end', async () => {
  const { accountId, key } = account;
  const taskId = await acceptTestTask(watched, accountId, taskParam('a'));
  const again = { taskId, accountId, param: taskParam('another'), listedPrices };
  await acceptTask(watched, again);
  for (const waits of [false, true]) await acceptBatch(watched, [again], { waits });
  await createCallerFinder(watched)(key, taskId);
  await createTaskFinder(watched)(taskId);
  await findTask(watched, taskId);
  await listEndedAmong(watched, [taskId]);
  for (const state of [undefined, ...taskStates]) {
    await listTasks(watched, { accountId, state, after: taskId, limit: 50 });
    await assertPlans();
  }
  await listTasks(watched, { accountId, model: 'videogen-2.0', limit: 50 });
  await assertPlans();
  await listTasks(watched, { accountId, failCodes: ['timeout'], limit: 50 });
  await assertPlans();
  await listTasks(watched, { accountId, createdBy: taskId, limit: 50 });
  await assertPlans();
  await listTasks(watched, { accountId, search: { idPart: undefined, words: 'boat:*' }, limit: 50 });
  await findMaker(watched, taskId);
  await countAhead(watched, taskId);
  const times = { fromMs: Date.now() - 86_400_000, toMs: Date.now() };
  const booked = [...ledgerKinds.map((kind) => ({ kind })), { taskId }, times, { before: 1_000 }, {}];
  for (const filter of booked) {
    await readBooks(watched, { accountId, ...filter, limit: 50 });
    await assertPlans();
  }
  await usage.listUsageDays(watched, { accountId, ...times });
  await usage.listKeyUses(watched, accountId);
  await usage.summariseAccount(watched, accountId);
  await listTaskEntries(watched, taskId);
  await accounts.findAccount(watched, accountId);
  await readPriceSchedules(watched, accountId, defaultModels);
  await readPriceSchedules(watched, undefined, defaultModels);
  await assertPlans();
});

test('a create finds its price as the first row of an index, however many prices there have been', async () => {
  const lookUps = (plan: Plan, above: string): readonly string[] => {
    const own = plan['Relation Name'] === 'prices' ? [`${plan['Node Type']} below ${above}`] : [];
    return [...own, ...(plan.Plans ?? []).flatMap((below) => lookUps(below, plan['Node Type']))];
  };
  for (const name of ['explain-task', 'accept-tasks', 'accept-tasks-of-one-account']) {
    const accept = asked.get(name);
    assert.ok(accept);
    const { text, values } = { text: `explain (format json) ${accept.statement.text}`, values: [...accept.values] };
    assert.deepEqual(lookUps(await planOf({ text, values }), ''), ['Index Scan below Limit', 'Index Scan below Limit']);
  }
});

test('no statement about keys, secrets and accounts does', async () => {
  const { accountId } = account;
  const made = await createApiKey(watched, { accountId, name: 'a', scopes: ['tasks:read'] });
  const own = await createAccountKey(watched, { accountId, name: 'a', scopes: [], expiresAt: undefined });
  assert.ok(made !== undefined && own.kind === 'made');
  await rotateAccountKey(watched, { accountId, keyId: own.apiKey.keyId, within: [], overlapSeconds: 60 });
  await revokeApiKey(watched, own.apiKey.keyId, accountId);
  await assertPlans();
  await touchKeys(watched, [made.keyId]);
  await listApiKeys(watched, accountId);
  for (const last of [undefined, accountId]) await listApiKeysAfter(watched, accountId, last, 500);
  await revokeApiKey(watched, made.keyId);
  await createCallerFinder(watched)(newApiKey());
  await secrets.createFirstCallbackSecret(watched, accountId, 'sealed');
  await secrets.listCallbackSecrets(watched, accountId);
  await secrets.showCallbackSecret(watched, accountId);
  await secrets.rotateCallbackSecret(watched, { accountId, sealed: 'sealed', overlapSeconds: 60 });
  await accounts.createAccount(watched, { name: 'new', credits: 1 });
  await accounts.setAccountLimits(watched, accountId, { maxUnfinishedTasks: 1_000, createRate: undefined });
  await bookCredits(watched, { accountId, kind: 'grant', amount: 1, reason: 'a gift' });
  await assertPlans();
});

test('no statement on the way of a task does', async () => {
  const { accountId } = account;
  const [taskId, failing] = [await newTask(accountId), await newTask(accountId)];
  await confirmCharge(watched, taskId);
  await confirmCharge(watched, taskId);
  await startGeneration(watched, taskId);
  await startGeneration(watched, taskId);
  await touchGenerations(watched, [taskId]);
  await jobs.intendProviderJob(watched, { taskId, ordinal: 1, provider: 'preview' });
  await jobs.recordProviderJob(watched, { taskId, ordinal: 1, jobId: 'job' });
  await jobs.listProviderJobs(watched, taskId);
  await jobs.endProviderJob(watched, { taskId, ordinal: 1, outcome: 'abandoned' });
  await jobs.succeedProviderJob(watched, taskId);
  await jobs.recordLateSuccess(watched, taskId);
  await jobs.settleProviderJob(watched, { taskId, ordinal: 1, outcome: 'abandoned' });
  await completeTask(watched, taskId, madeUpResult);
  await refundTask(watched, failing, { failCode: 'internal', failMsg: 'It failed.' }, { terminatesAfterMs: 0 });
  const delivery = await deliveries.findDelivery(watched, taskId);
  assert.ok(delivery);
  const attempt = { startedAt: 0, durationMs: 1, status: 500, error: undefined, responseHead: undefined };
  const verdict = { state: 'pending', dueAt: 0 } as const;
  await deliveries.recordDeliveryAttempt(watched, { delivery, attempt, verdict });
  await deliveries.listDeliveryAttempts(watched, taskId);
  await deliveries.askForRedelivery(watched, taskId);
  for (const state of [undefined, 'pending', 'delivered', 'failed', 'gone'] as const) {
    for (const last of [undefined, taskId]) {
      await ownDeliveries.listOwnDeliveries(watched, { accountId, state, after: last, limit: 50, nowMs: Date.now() });
      await assertPlans();
    }
  }
  await uploads.addUpload(watched, { uploadId: uuidv7(), accountId, bytes: 1, retentionMs: 1 });
  await uploads.abandonUpload(watched, taskId);
  await uploads.hasUpload(watched, taskId);
  await uploads.listUsableUploads(watched, accountId, [taskId]);
  await ownDeliveries.redeliverFailed(watched, { accountId, sinceMs: 0, nowMs: Date.now() });
  await assertPlans();
});

test('no statement on the way of a task to an upstream does, with thousands of tasks that wait for it', async () => {
  const { accountId } = account;
  const taskId = await newTask(accountId);
  const provider = 'busy';
  const request = { taskId, accountId, ordinal: 1, pool: 'busy/model', provider, limit: 100 };
  assert.equal((await slots.reserveSlot(watched, request)).kind, 'full');
  const free = { ...request, pool: 'free/model', provider: 'free' };
  const job = { ...free, jobId: 'job', configHash: 'a'.repeat(64), config: '{}' };
  const strike = { reason: 'busy', baseMs: 0, maxMs: 0, isOfProvider: false } as const;
  assert.equal((await slots.reserveSlot(watched, free)).kind, 'granted');
  await pools.strikePool(watched, { ...free, ...strike });
  assert.equal((await slots.reserveSlot(watched, free)).kind, 'granted');
  await pools.holdPool(watched, { ...free, holdMs: 60_000 });
  assert.equal((await slots.reserveSlot(watched, free)).kind, 'cooling');
  await pools.endCooldown(watched, { pool: free.pool, reasons: ['operator'] });
  assert.ok(await jobs.intendReservedJob(watched, job));
  await pools.clearStrikes(watched, free.pool);
  await pools.holdPool(watched, { ...free, holdMs: 0 });
  await lostCalls.countRivals(watched, { ...job, intendedAt: Date.now() });
  await lostCalls.listClaimedJobs(watched, 'free', ['job']);
  await jobs.recordLostRun(watched, { taskId, ordinal: 1 });
  await jobs.recordUpstreamEnd(watched, { taskId, ordinal: 1 });
  await keepTiers(watched, taskId, []);
  assert.deepEqual(await readTiers(watched, taskId), []);
  await findGeneration(watched, taskId);
  await startGeneration(watched, taskId);
  await touchGenerations(watched, [taskId]);
  await pauseGeneration(watched, taskId);
  await recordGenerating(watched, taskId, 0);
  await assertPlans();
});

test('a request for a slot reads as many waiting tasks as its pool has slots sixty times, of 10,000 that wait', async () => {
  const limit = 3;
  const { accountId } = account;
  const [taskId, pool] = [await newTask(accountId), 'busy/model'];
  await slots.reserveSlot(watched, { taskId, accountId, ordinal: 1, pool, provider: 'busy', limit });
  const admit = asked.get('admit-to-pool');
  assert.ok(admit);
  const values = admit.values.map((value) => pg.escapeLiteral(String(value))).join();
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await client.query(`begin; set local plan_cache_mode = ${mode}; prepare admit as ${admit.statement.text}`);
    const plan = await planOf(`explain (analyze, format json) execute admit(${values})`);
    await client.query('rollback; deallocate admit');
    assert.deepEqual(
      readsOf(plan).filter(({ rows }) => rows > 60 * limit),
      [],
    );
  }
});

/** How many rows of waiting tasks each part of a plan has read. */
function readsOf(plan: Plan): readonly { readonly node: string; readonly rows: number }[] {
  const removed = plan['Rows Removed by Filter'] ?? 0;
  const rows = ((plan['Actual Rows'] ?? 0) + removed) * (plan['Actual Loops'] ?? 1);
  const own = plan['Relation Name'] === 'slot_waits' ? [{ node: plan['Node Type'], rows }] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(readsOf)];
}

test('no statement of an operator does', async () => {
  const { accountId } = account;
  const { operatorId, key } = await operators.createOperator(watched, { name: 'ada' });
  const actor: Actor = { kind: 'operator', operatorId, name: 'ada', requestId: 'r' };
  await operators.findOperator(watched, key);
  await accounts.openAccountAs(watched, actor, { name: 'new', credits: 1 });
  await accounts.suspendAccountAs(watched, actor, { accountId, suspended: true, reason: 'a' });
  await accounts.suspendAccountAs(watched, actor, { accountId, suspended: false, reason: 'a' });
  await accounts.renameAccountAs(watched, actor, { accountId, name: 'Harbor Films' });
  await consoleAssets.publishConsoleAssets(watched, [{ name: 'main-1.js', content: Buffer.from('1') }]);
  await consoleAssets.findConsoleAsset(watched, 'main-1.js');
  await accounts.limitAccountAs(watched, actor, { accountId, maxUnfinishedTasks: 1_001 });
  await bookCreditsAs(watched, actor, { accountId, kind: 'grant', amount: 1, reason: 'a', idempotencyKey: 'a' });
  const wanted = { accountId, name: 'a', scopes: [], expiresAt: undefined };
  const made = await createKeyAs(watched, actor, wanted);
  assert.ok(made?.kind === 'made');
  await revokeKeyAs(watched, actor, made.apiKey.keyId);
  const taskId = await newTask(accountId);
  await cancelTaskAs(watched, actor, { taskId, reason: 'a' });
  await deliveries.redeliverAs(watched, actor, taskId);
  const wantedPrice = { model: 'videogen-2.0', accountId, creditsPerSecond: 40, fromMs: Date.now() + 1e6, reason: 'a' };
  const setting = await setPriceAs(watched, actor, wantedPrice);
  assert.ok(setting.kind === 'set');
  await withdrawPriceAs(watched, actor, { priceId: setting.price.priceId, reason: 'a' });
  await lists.countOfAccount(watched, accountId);
  await operators.listOperators(watched);
  await operators.revokeOperator(watched, operatorId);
  await pools.setProviderSwitchAs(watched, actor, { provider: 'busy', state: 'enabled', reason: 'a' });
  await pools.listProviderSwitches(watched);
  await pools.listPools(watched);
  for (const read of [installation.listUnfinishedByModel, installation.sumCreatedOfDay, installation.sumEndedOfDay])
    await read(watched);
  await installation.countOwedCallbacks(watched);
  await installation.listViolations(watched);
  await readMargin(watched, { fromMs: Date.now() - 3_600_000, toMs: Date.now(), currency: 'USD' });
  await assertPlans();
});

test('no statement of a person in the console does', async () => {
  const { accountId } = account;
  const shell: Actor = { kind: 'command_line', name: 'ada' };
  const origin = { address: '10.0.0.1', userAgent: 'a' };
  const passwordHash = 'a';
  await people.createSetupLink(watched);
  // The link of a first start is refused where there are operators, as here.
  await links.withdrawSetupLinks(watched);
  const [email, second] = ['new@example.com', 'second@example.com'];
  for (const address of [email, second]) {
    const wanted = { email: address, isOperator: true, accountId, role: 'owner' } as const;
    const invited = await people.inviteAs(watched, shell, wanted);
    const link = invited && (await links.findLink(watched, invited.token));
    assert.ok(link);
    await signIns.acceptLink(watched, { link, email: address, passwordHash, origin });
  }
  const [user, other] = [await users.findUserByEmail(watched, email), await users.findUserByEmail(watched, second)];
  assert.ok(user && other);
  await people.resetAs(watched, shell, email);
  const made = await signIns.signIn(watched, { user, origin, means: 'password', checkedHash: passwordHash });
  const session = await sessions.findSession(watched, made.token, { accountId, isBackground: false });
  assert.ok(session);
  await assertPlans();
  await signIns.reauthenticate(watched, session, origin, { means: 'password', checkedHash: passwordHash });
  await signIns.changePassword(watched, session, origin, { checkedHash: passwordHash, passwordHash });
  await sessions.listSessions(watched, user.userId);
  const { tryId } = await beginTry(watched, email, origin.address);
  await succeedTry(watched, tryId ?? 0);
  await memberships.accountsOfUser(watched, user.userId);
  const by = { session, accountId, origin };
  const invited = await people.inviteAs(watched, shell, { email: 'third@example.com', isOperator: true });
  await links.listOperatorInvitations(watched);
  for (const _time of [1, 2]) await people.withdrawInvitationAs(watched, shell, invited?.linkId ?? '');
  const invitation = await members.inviteMember(watched, by, { email: 'third@example.com', role: 'viewer' });
  assert.ok(typeof invitation === 'object');
  await members.withdrawMemberInvitation(watched, by, invitation.linkId);
  await members.listMembers(watched, accountId);
  for (const last of [undefined, email]) await members.listMembersAfter(watched, accountId, last, 500);
  await members.changeRole(watched, by, { userId: other.userId, role: 'viewer' });
  await members.removeMember(watched, by, other.userId);
  await events.listAccountEvents(watched, accountId, { limit: 50 });
  await events.listAllEvents(watched, { limit: 50 });
  await assertPlans();
  await users.listUsers(watched, { search: 'person-49', limit: 50 });
  await users.listUsers(watched, { search: '', accountId, limit: 50 });
  await users.findUser(watched, user.userId);
  for (const wish of [true, false]) {
    await setOperatorAs(watched, shell, other, wish);
    await disableAs(watched, shell, other, wish);
  }
  await endSessionsAs(watched, shell, user);
  const credential = { credentialId: 'c', publicKey: Buffer.from('a'), counter: 0, transports: [] };
  const { session: another } = await sessions.createSession(watched, user.userId, origin);
  const added = await passkeys.addPasskey(watched, another, { name: 'a', credential, origin });
  assert.ok(typeof added === 'object');
  const { passkeyId } = added;
  await passkeys.listPasskeys(watched, user.userId);
  await passkeys.findPasskey(watched, 'c');
  await passkeys.touchPasskey(watched, passkeyId, 1);
  await passkeys.renamePasskey(watched, user.userId, passkeyId, 'b');
  await passkeys.removePasskey(watched, user, passkeyId, origin);
  await sessions.dateProof(watched, made.session.sessionId, Date.now());
  const proof = await beginProof(watched, { kind: 'oidc' });
  await takeProof(watched, 'oidc', proof ?? '');
  const identity = { issuer: 'https://id.example.com', subject: 's', email };
  for (const _visit of [1, 2]) assert.ok(await signInWithIdentity(watched, identity, { origin }));
  assert.ok(await users.findUserWithIdentity(watched, user.userId, identity.issuer, identity.subject));
  await signIns.signOut(watched, session, origin);
  for (const named of [user, { userId: uuidv7() }, { email: 'third@example.com' }])
    await erasure.eraseUserAs(watched, shell, named);
  await assertPlans();
});

test('no list over all accounts does', async () => {
  const { accountId } = account;
  const taskId = await newTask(accountId);
  for (const last of [undefined, taskId]) {
    for (const state of [undefined, ...taskStates]) {
      await listTasks(watched, { state, after: last, limit: 50 });
      await assertPlans();
    }
    for (const filter of [{ model: 'none' }, { failCodes: ['timeout'] }, { provider: 'none' }] as const) {
      await listTasks(watched, { ...filter, fromMs: Date.now() - 86_400_000, after: last, limit: 50 });
      await assertPlans();
    }
    const cursor = last === undefined ? undefined : { finishedAtUs: 1, taskId: last };
    await deliveries.listFailedDeliveries(watched, { after: cursor, limit: 50 });
    await assertPlans();
  }
  for (const last of [undefined, accountId]) {
    for (const suspended of [undefined, true, false]) {
      await lists.listAccounts(watched, { prefix: 'account 49', suspended, after: last, limit: 50 });
      await assertPlans();
    }
  }
  for (const priceId of [undefined, 1_000]) {
    await listPrices(watched, { before: priceId, limit: 50 });
    await listPrices(watched, { accountId, model: 'videogen-2.0', before: priceId, limit: 50 });
    await assertPlans();
  }
  const operatorId = uuidv7();
  for (const filter of [{}, { accountId }, { operatorId }, { accountId, operatorId, before: 1_000 }]) {
    await listActions(watched, { ...filter, limit: 50 });
    await assertPlans();
  }
});

test('no statement of the rounds that run every minute does', async () => {
  const taskId = await newTask(account.accountId);
  const job = { taskId, ordinal: 1, provider: 'preview', jobId: undefined, isOld: false };
  for (const last of [undefined, taskId]) {
    await listUnfinishedTasks(watched, { minAgeMs: 60_000, after: last, limit: 200 });
    const place = last === undefined ? last : { taskId: last, dueAtUs: 1 };
    await deliveries.listPendingDeliveries(watched, { minAgeMs: 60_000, after: place, limit: 200 });
    await jobs.listUnsettledJobs(watched, { minAgeMs: 60_000, after: last === undefined ? last : job, limit: 200 });
    const task = last === undefined ? last : { taskId: last };
    await listExpiredMedia(watched, { retentionMs: 1e9, leftoverMs: 1e8, after: task, limit: 200 });
    await listDueTerminations(watched, { after: task && { ...task, reason: 'a test', dueAtUs: 1 }, limit: 200 });
    await uploads.listExpiredUploads(watched, { after: task && { uploadId: taskId, expiresAtUs: 1 }, limit: 200 });
    await assertPlans();
  }
  await markMediaDeleted(watched, taskId);
  await markStuck(watched, taskId, Date.now());
  await countUnfinishedTasks(watched);
  await deliveries.readCallbackBacklog(watched);
  await countStuckTasks(watched);
  await removeTermination(watched, taskId);
  await uploads.removeUpload(watched, taskId);
  await slots.sweepSlots(watched, 200);
  const workerId = uuidv7();
  await reports.saveWorkerReport(watched, { workerId, queue: 'generation', models: [], refusal: undefined });
  await reports.listWorkerReports(watched);
  await reports.deleteWorkerReports(watched, workerId);
  for (const deletePage of Object.values(retention)) await deletePage(watched, Date.now() - 86_400_000, 500);
  await erasure.deleteExpiredUsers(watched, Date.now() + 60_000, 500);
  await deletions.deleteExpiredContent(watched, 0, 500);
  for (const kind of ['recent', 'full'] as const) await runAudit(watched, kind);
  await markReconciled(watched);
  await readCursor(watched, 'a test');
  await saveCursor(watched, 'a test', '{}');
  await deleteCursor(watched, 'a test');
  await readMaintenance(watched);
  await assertPlans();
});

test('no statement of a deletion or of the end of an account does', async () => {
  const { accountId } = await createTestAccount(database, 1_000);
  const taskId = await newTask(accountId);
  await refundTask(watched, taskId, { failCode: 'internal', failMsg: 'It failed.' });
  for (const last of [undefined, taskId])
    await closures.listTasksToEmpty(watched, accountId, { after: last, limit: 200 });
  const task = await findTask(watched, taskId);
  assert.ok(task);
  await assertPlans();
  await deletions.deleteTaskContent(watched, task, [taskId]);
  const owed = { taskId, accountId, uploadIds: [taskId], isLast: false, dueAtUs: 1 };
  for (const last of [undefined, owed]) await deletions.listOwedDeletions(watched, { after: last, limit: 200 });
  await deletions.findOwedDeletion(watched, taskId);
  await deletions.listNeededUploads(watched, accountId, [taskId]);
  await deletions.clearJobs(watched, taskId);
  for (const isLast of [false, true]) await deletions.finishDeletion(watched, { ...owed, isLast });
  await assertPlans();
  const actor: Actor = { kind: 'command_line', name: 'ada' };
  await closures.closeAccountAs(watched, actor, { accountId, reason: 'a test' });
  for (const last of [undefined, accountId]) await closures.listOpenClosures(watched, { after: last, limit: 200 });
  await closures.isClosing(watched, accountId);
  await closures.listUploadsOf(watched, accountId, 200);
  assert.equal((await closures.finishClosure(watched, accountId)).outcome, 'finished');
  await assertPlans();
});

test('no statement of a command of operators does', async () => {
  const taskId = await newTask(account.accountId);
  await secrets.listSecretsToReseal(watched, 0, 100);
  await secrets.resealSecret(watched, 1, 'one', 'another');
  await readSchemaState(watched, []);
  await inspection.listSealedSecrets(watched);
  await settlement.countEndings(watched, Date.now() - 60 * 60_000);
  await settlement.listKnownTasks(watched, [taskId]);
  for (const last of [undefined, taskId]) await settlement.listKeptResults(watched, last, 500);
  await assertPlans();
});

test('every statement of the stores has been looked at', () => {
  const sources = readdirSync('src/stores').filter((name) => name.endsWith('.ts'));
  const names = sources.flatMap((name) =>
    [...readFileSync(`src/stores/${name}`, 'utf8').matchAll(/\bname: '([a-z-]+)'/g)].map(([, statement]) => statement),
  );
  assert.ok(names.length > 40);
  assert.deepEqual(
    names.filter((name) => name !== undefined && !asked.has(name) && !notPeriodic.includes(name)),
    [],
  );
});

test('a missing index would be noticed', async () => {
  await client.query('drop index provider_jobs_unsettled, provider_jobs_in_pool');
  await assert.rejects(assertPlans(), /admit-to-pool/);
});

async function newTask(accountId: string): Promise<string> {
  return acceptTestTask(watched, accountId, taskParam(uuidv7(), {}, 'http://127.0.0.1/'));
}

const manyRows = `
insert into accounts (id, name) select gen_random_uuid(), 'account ' || n from generate_series(1, 5000) n;
insert into api_keys (id, account_id, name, hash, hint, scopes)
select gen_random_uuid(), id, 'key', sha256(id::text::bytea), 'hint', '{}' from accounts;
insert into callback_secrets (account_id, sealed) select id, 'sealed' from accounts;
insert into tasks (id, account_id, model, param, state, credits_charged, credits_refunded, fail_code, fail_msg, result,
  request_sha256, created_at, generation_started_at, completed_at, media_deleted_at, callback_url)
select gen_random_uuid(), a.id, 'videogen-2.0-fast', '{"model":"videogen-2.0-fast","input":{"prompt":"a boat"}}', s.state, 132,
  case s.state when 'fail' then 132 else 0 end, case s.state when 'fail' then 'internal' end,
  case s.state when 'fail' then 'It failed.' end, case s.state when 'success' then '{"videoKey":"v"}'::json end,
  sha256(n::text::bytea), now() - n * interval '1 minute', now() - n * interval '1 minute',
  case when s.state <> 'generating' then now() - n * interval '1 minute' end,
  case when n > 100 and s.state <> 'generating' then now() end, 'http://127.0.0.1/'
from (select id, row_number() over () as k from accounts) a
join generate_series(1, 20000) n on a.k = 1 + n % 5000
cross join lateral (select case n % 200 when 0 then 'generating' when 1 then 'fail' else 'success' end as state) s;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'charge', -132, 0 from tasks;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, id, 'refund', 132, 132 from tasks where state = 'fail';
insert into provider_jobs (task_id, ordinal, provider, job_id, outcome)
select id, 1, 'preview', 'job', case state when 'success' then 'success' when 'fail' then 'fail' end from tasks;
insert into provider_pools (pool, provider) values ('busy/model', 'busy');
insert into provider_jobs (task_id, ordinal, provider, pool, account_id, job_id, reserved_at, intended_at, submitted_at)
select id, 2, 'busy', 'busy/model', account_id, 'job', now(), now(), now() from tasks where state = 'generating';
insert into slot_waits (task_id, pool, account_id, turn, due_at)
select id, 'busy/model', account_id, row_number() over (), now() + interval '1 minute' from tasks where state <> 'generating' limit 10000;
insert into slot_waits (task_id, pool, account_id, turn, due_at)
select id, 'other/' || n % 100, account_id, n, now() + interval '1 minute' from (select *, row_number() over () as n from tasks) t;
insert into callback_deliveries (task_id, account_id, url, state, finished_at)
select id, account_id, 'http://127.0.0.1/', 'delivered', now() from tasks where state = 'success';
insert into callback_deliveries (task_id, account_id, url) select id, account_id, 'http://127.0.0.1/' from tasks where state = 'fail';
insert into callback_attempts (task_id, attempt, started_at, duration_ms, status)
select task_id, 1, now(), 5, 204 from callback_deliveries;
insert into uploads (id, account_id, bytes, expires_at)
select gen_random_uuid(), id, 1, now() + n * interval '1 hour' from accounts cross join generate_series(1, 4) n;
insert into operators (id, name, hash, hint) select gen_random_uuid(), 'operator ' || n, sha256(n::text::bytea), 'hint'
from generate_series(1, 20) n;
insert into operator_actions (operator_id, actor, action, account_id, details)
select o.id, o.name, 'credits.grant', a.id, '{}' from operators o cross join accounts a where a.id < '80000000-0000-0000-0000-000000000000';
insert into prices (model, account_id, credits_per_second, effective_from, created_at, who, reason)
select model, id, 40, now() - n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from accounts cross join generate_series(1, 2) n cross join unnest('{videogen-2.0,videogen-2.0-fast}'::text[]) model;
insert into prices (model, credits_per_second, effective_from, created_at, who, reason)
select model, 33, now() + n * interval '1 hour', now() - interval '10 years', 'operator', 'a reason'
from generate_series(-500, 500) n cross join unnest('{videogen-2.0,videogen-2.0-fast}'::text[]) model;
insert into users (id, email, is_operator, unattached_since)
select gen_random_uuid(), 'person-' || n || '@example.com', n % 500 = 0, case when n % 100 = 0 then now() end
from generate_series(1, 5000) n;
insert into memberships (account_id, user_id, role)
select a.id, u.id, 'owner' from (select id, row_number() over () as n from accounts) a
join (select id, row_number() over () as n from users) u using (n);
insert into sessions (id, user_id, hash, expires_at, address, user_agent)
select gen_random_uuid(), id, sha256((id::text || n)::bytea), now() + interval '1 day', '10.0.0.1', 'a'
from users cross join generate_series(1, 2) n;
insert into one_time_links (id, hash, purpose, email, account_id, role, expires_at, used_at)
select gen_random_uuid(), sha256(user_id::text::bytea), 'invite', email, account_id, 'owner', now() + interval '1 day', now()
from memberships join users on users.id = user_id;
insert into sign_in_tries (email_hash, address) select sha256(n::text::bytea), '10.0.0.' || n % 250 from generate_series(1, 5000) n;
insert into security_events (kind, user_id, account_id, details)
select 'signed_in', user_id, case n when 1 then account_id end, '{}' from memberships cross join generate_series(1, 3) n;
insert into passkeys (id, user_id, credential_id, public_key, counter, transports, name)
select gen_random_uuid(), id, id::text, '', 0, '{}', 'a' from users;
insert into oidc_identities (issuer, subject, user_id) select 'https://id.example.com', id::text, id from users`;
