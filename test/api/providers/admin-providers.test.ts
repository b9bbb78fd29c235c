import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createCodesAs, redeemCode } from '../../../src/credits/ledger/redemption-codes.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import type { JobCost } from '../../../src/tasks/jobs/provider-jobs.ts';
import { intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { freeSlotAndRecordCost, succeedProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { startCooldown } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { shell } from '../../support/service/person.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

const file = {
  creditValue: { micros: 5000, currency: 'USD' },
  providers: {
    box: { kind: 'own', baseUrl: 'http://gpu1:9000/base', limit: 3 },
    idle: { kind: 'own', baseUrl: 'http://gpu2' },
  },
  models: [
    { model: 'm', title: 'M', prices: [{ creditsPerSecond: 10 }], tiers: [[{ provider: 'box', model: 'wan' }]] },
  ],
};
const { catalogue } = resolveCatalogue(file);
assert.ok(catalogue);
const withFiles = { ...catalogue, files: new Map() };

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService({ catalogue: () => withFiles });
  operator = await createTestOperator(service);
});
after(() => service.close());

type Pool = {
  pool: string;
  limit: number | null;
  consecutiveFailures: number;
  coolingReason: string | null;
  coolingMs: number | null;
};
type Provider = { provider: string; kind: string | null; origin: string | null; state: string; pools: Pool[] };

async function providers() {
  const { providers: listed } = await dataOf(operator.ask('GET', '/api/admin/v1/providers'));
  // The service holds its answers against the schema of the endpoint.
  return new Map((listed as Provider[]).map((one) => [one.provider, one]));
}

const set = (body: object) =>
  operator.ask('POST', '/api/admin/v1/providers/set', { body: { reason: 'repairs', ...body } });

describe('the list of providers', () => {
  test('200 names those of the catalogue, with the limits of their pools and their origin alone', async () => {
    const listed = await providers();
    const box = listed.get('box');
    assert.deepEqual([box?.kind, box?.origin, box?.state], ['own', 'http://gpu1:9000', 'enabled']);
    assert.deepEqual(
      box?.pools.map(({ pool, limit }) => [pool, limit]),
      [['box/wan', 3]],
    );
    assert.deepEqual(listed.get('idle')?.pools, []);
    assert.equal(listed.get('preview')?.origin, null);
  });

  test('200 shows why a pool cools down, and that enabling it ends that', async () => {
    const { db } = service.database;
    await db.run({
      name: 'a-pool',
      text: `insert into provider_pools (pool, provider) values ('box/wan', 'box') on conflict do nothing`,
    });
    const failure = { pool: 'box/wan', provider: 'box', baseMs: 60_000, maxMs: 60_000, isOfProvider: false } as const;
    await startCooldown(db, { ...failure, reason: 'overloaded' });
    const [pool] = (await providers()).get('box')?.pools ?? [];
    assert.deepEqual([pool?.consecutiveFailures, pool?.coolingReason], [1, 'overloaded']);
    assert.ok((pool?.coolingMs ?? 0) > 0);
    await set({ provider: 'box', state: 'enabled' });
    const [enabled] = (await providers()).get('box')?.pools ?? [];
    assert.deepEqual([enabled?.consecutiveFailures, enabled?.coolingReason, enabled?.coolingMs], [0, null, null]);
  });
});

describe('the switch of a provider', () => {
  test('200 is shown with who set it and why, and is in the audit log', async () => {
    const shown = await dataOf(set({ provider: 'idle', state: 'draining' }));
    assert.deepEqual([shown['state'], shown['reason'], shown['who']], ['draining', 'repairs', 'ada']);
    assert.equal((await providers()).get('idle')?.state, 'draining');
    const [latest] = await listOperatorActions(service.database.db, { limit: 1 });
    assert.equal(latest?.action, 'providers.set');
    assert.deepEqual(latest.details, { provider: 'idle', state: 'draining', before: 'enabled', reason: 'repairs' });
  });

  test('422 rejects other states and providers, and suggests what was meant', async () => {
    assertInvalid(await set({ provider: 'box', state: 'paused' }), /enabled, draining, off/);
    assertInvalid(await set({ provider: 'previw', state: 'off' }), /did you mean preview\?/);
    assertInvalid(await set({ provider: 'box', state: 'off', reason: '' }), /reason/);
  });
});

test('200 the test of a provider is in the audit log with what came of it', async () => {
  const body = { provider: 'box' };
  const found = { outcome: 'ok', status: 404, latencyMs: 12 };
  const shown = await dataOf(operator.ask('POST', '/api/admin/v1/providers/test', { body }));
  assert.deepEqual(shown, { ...found, detail: null });
  const [latest] = await listOperatorActions(service.database.db, { limit: 1 });
  assert.deepEqual([latest?.action, latest?.details], ['providers.test', { ...body, ...found }]);
});

describe('the margin', () => {
  const ask = (query: Readonly<Record<string, string>>) => operator.ask('GET', '/api/admin/v1/margin', { query });

  test('200 is what was charged less what was refunded less cost, and null where a cost is unknown', async () => {
    const { db } = service.database;
    const { accountId } = await service.newAccount(1_000_000);
    await sell(db, accountId, { micros: 400_000, currency: 'USD', basis: 'reported' });
    const one = await dataOf(ask(lastHour()));
    assert.deepEqual([one['currency'], one['creditMicros']], ['USD', 5000]);
    const [known] = rowsOf(one);
    assert.deepEqual([known?.['provider'], known?.['tasks'], known?.['costMicros']], ['box', 1, 400_000]);
    assert.equal(known?.['revenueMicros'], 132 * 5000);
    assert.equal(known['marginMicros'], 132 * 5000 - 400_000);
    await sell(db, accountId, undefined);
    const [both] = rowsOf(await dataOf(ask(lastHour())));
    assert.deepEqual([both?.['tasks'], both?.['unknownJobs'], both?.['marginMicros']], [2, 1, null]);
    for (const [filter, rows] of [
      [{ provider: 'box', model: 'videogen-2.0-fast' }, [both]],
      [{ provider: 'idle' }, []],
      [{ provider: 'box', model: 'm' }, []],
    ] as const)
      assert.deepEqual(rowsOf(await dataOf(ask({ ...lastHour(), ...filter }))), rows);
  });

  test('200 credits that were granted, redeemed and adjusted are listed with their value, and are no revenue', async () => {
    const own = await startHttpService();
    const { db } = own.database;
    const { accountId } = await own.newAccount(1_000);
    const { codes } = await createCodesAs(db, shell, { name: 'spring', credits: 500, codes: 2 });
    for (const code of codes) await redeemCode(db, accountId, code);
    await bookCredits(db, { accountId, kind: 'adjustment', amount: -30, reason: 'a correction' });
    await acceptTestTask(db, accountId, taskParam('sold'));
    const early = { accountId, kind: 'grant', amount: 7, reason: 'before' } as const;
    const entry = await bookCredits(db, early);
    await runAsSuperuser(
      own.database,
      `update ledger_entries set created_at = now() - interval '2 hours' where id = ${entry?.entryId}`,
    );
    const topUps = `
insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, state, settled_by, paid_at)
select gen_random_uuid(), $1, 'stripe', true, 'starter', 1000, 'EUR', 999, 'paid', 'event', now() - hours * interval '1 hour'
from unnest(array[0, 2]) hours`;
    await db.run({ name: 'test-pay', text: topUps }, [accountId]);
    const { ask: askOwn } = await createTestOperator(own);
    const { booked, rows, paid } = await dataOf(askOwn('GET', '/api/admin/v1/margin', { query: lastHour() }));
    await own.close();
    assert.deepEqual(rows, []);
    assert.deepEqual(paid, [{ currency: 'EUR', isTest: true, topUps: 1, minorUnits: 999, returnedMinorUnits: 0 }]);
    const line = (section: string, entries: number, credits: number) => ({
      section,
      entries,
      credits,
      valueMicros: credits * 5000,
      isRevenue: false,
    });
    assert.deepEqual(booked, [line('adjustment', 1, -30), line('code', 2, 1_000), line('grant', 1, 1_000)]);
  });

  test('422 takes a time of 92 days at most', async () => {
    const toTime = Date.now();
    assertInvalid(await ask({ fromTime: String(toTime - 93 * 86_400_000), toTime: String(toTime) }), /92 days/);
    assertInvalid(await ask({ fromTime: String(toTime), toTime: String(toTime - 1) }), /toTime/);
    assertInvalid(await ask({ toTime: String(toTime) }), /fromTime/);
    assertInvalid(await ask({ fromTime: String(toTime - 92 * 86_400_000 - 1), toTime: String(toTime) }), /92 days/);
    for (const days of [0, 92])
      assert.equal((await ask({ fromTime: String(toTime - days * 86_400_000), toTime: String(toTime) })).status, 200);
  });
});

/** A task of 132 credits with one job, and its cost if that is known. */
async function sell(db: Database, accountId: string, cost: JobCost | undefined): Promise<void> {
  const taskId = await acceptTestTask(db, accountId, taskParam('sold'));
  const [job, pool] = [{ taskId, ordinal: 1 }, 'box/wan'];
  await reserveSlot(db, { ...job, accountId, pool, provider: 'box', limit: 100 });
  await intendReservedJob(db, { ...job, pool, configHash: 'a'.repeat(64), config: '{}', cost: undefined });
  await recordCreatedJob(db, { ...job, jobId: `job of ${taskId}` });
  await freeSlotAndRecordCost(db, { ...job, cost });
  await succeedProviderJob(db, taskId);
  await completeTask(db, taskId, madeUpResult);
}

function rowsOf({ rows }: Readonly<Record<string, unknown>>) {
  // The service holds its answers against the schema of the endpoint.
  return rows as readonly Readonly<Record<string, unknown>>[];
}

function assertInvalid(answer: Answer, message: RegExp): void {
  assertRefused(answer, 422, message, answer.json.data);
}

function lastHour() {
  return { fromTime: String(Date.now() - 3_600_000), toTime: String(Date.now() + 60_000) };
}
