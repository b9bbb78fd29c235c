import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CatalogueModel } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { listModelTroubles } from '../../../src/tasks/jobs/model-trouble.ts';
import { ago, insertRow, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { modelsAt } from '../../support/tasks/fake-providers.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'troubles', credits: 0 });
});
after(() => database.close());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A model at the pools `<provider>/model` of these providers, each a tier of its own. */
function sold(...providers: readonly string[]): ReadonlyMap<string, CatalogueModel> {
  const [model] = modelsAt(providers).values();
  assert.ok(model);
  return new Map([[model.model, model]]);
}

async function cool(db: StatementRunner, provider: string, reason: string, ms: number, failures = 1): Promise<void> {
  const row = { pool: `${provider}/model`, provider, failures, cooling_reason: reason, cooling_until: ago(-ms) };
  await insertRow(db, 'provider_pools', row);
}

/** Jobs that ended so long ago. */
async function endJobs(db: StatementRunner, provider: string, jobs: number, row: Readonly<Record<string, unknown>>) {
  for (let ended = 0; ended < jobs; ended += 1) {
    const job = { task_id: await insertTask(db, accountId), ordinal: 1, provider, pool: `${provider}/model` };
    await insertRow(db, 'provider_jobs', { ...job, intended_at: ago(hourMs), ended_at: ago(minuteMs), ...row });
  }
}

async function addWaiting(db: StatementRunner, provider: string, tasks: number): Promise<void> {
  const text = `
with waiting as (
  insert into tasks (id, account_id, model, param, price_name, credits_charged, request_sha256, deadline_ms)
  select gen_random_uuid(), $1, 'm', '{"input":{}}', 'standard', 1, sha256(n::text::bytea), 1 from generate_series(1, $3::int) n
  returning id
)
insert into slot_waits (pool, task_id, account_id, ticket, due_at) select $2, id, $1, 1, now() from waiting`;
  await db.run({ name: 'test-waiting', text }, [accountId, `${provider}/model`, tasks]);
}

async function nowMs(db: StatementRunner): Promise<number> {
  const text = 'select floor(extract(epoch from now()) * 1000)::bigint as at';
  return (await db.run<{ at: number }>({ name: 'test-now-ms', text }))[0]?.at ?? assert.fail();
}

const stateOf = async (db: Database, ...providers: readonly string[]) =>
  (await listModelTroubles(db, { models: sold(...providers) }))[0]?.state;

const refused = { outcome: 'fail', fail_code: 'provider_rejected', fail_msg: 'No.' };

for (const [what, jobs, state] of [
  [
    'three of five',
    [
      [3, refused],
      [2, { outcome: 'success' }],
    ],
    'failing',
  ],
  [
    'three of four',
    [
      [3, refused],
      [1, { outcome: 'success' }],
    ],
    undefined,
  ],
  [
    'three of six, late ones too',
    [
      [3, refused],
      [2, { outcome: 'success' }],
      [1, { outcome: 'late_success' }],
    ],
    undefined,
  ],
  ['declined creates', [[5, { outcome: 'not_created' }]], 'failing'],
  ['those up to fifteen minutes old', [[5, { ...refused, ended_at: ago(15 * minuteMs - 1) }]], 'failing'],
  ['older ones', [[5, { ...refused, ended_at: ago(15 * minuteMs) }]], undefined],
  ['unused reservations', [[5, { outcome: 'not_created', intended_at: null }]], undefined],
  ['what the client caused', [[5, { ...refused, fail_code: 'content_rejected' }]], undefined],
  ['abandoned ones', [[5, { outcome: 'abandoned' }]], undefined],
  [
    'the newest hundred of more',
    [
      [50, { outcome: 'success' }],
      [50, refused],
      [1, { ...refused, ended_at: ago(hourMs / 5) }],
    ],
    undefined,
  ],
  [
    'fifty-one of a hundred',
    [
      [49, { outcome: 'success' }],
      [51, refused],
    ],
    'failing',
  ],
] as const) {
  test(`of the last jobs of a model, ${what} make it ${state ?? 'no trouble'}`, () =>
    rolledBack(database.db, async (db) => {
      for (const [count, row] of jobs) await endJobs(db, 'a', count, row);
      await endJobs(db, 'b', 9, refused);
      assert.equal(await stateOf(db, 'a'), state);
    }));
}

test('a model is in trouble while the breaker of each of its providers is open, and ten minutes after', () =>
  rolledBack(database.db, async (db) => {
    await cool(db, 'open', 'unreachable', hourMs);
    await cool(db, 'half', 'unreachable', -10 * minuteMs + 1);
    await cool(db, 'over', 'unreachable', -10 * minuteMs);
    await cool(db, 'closed', 'unreachable', hourMs, 0);
    await cool(db, 'busy', 'busy', hourMs);
    for (const provider of ['off', 'draining'])
      await insertRow(db, 'provider_switches', { provider, state: provider, reason: 'a', who: 'b' });
    await insertRow(db, 'provider_switches', { provider: 'half', state: 'enabled', reason: 'a', who: 'b' });
    for (const [providers, state] of [
      [['open'], 'unavailable'],
      [['half'], 'unavailable'],
      [['over'], undefined],
      [['closed'], undefined],
      [['unknown'], undefined],
      [['open', 'over'], undefined],
      [['open', 'half'], 'unavailable'],
      [['open', 'busy'], 'slow'],
      [['open', 'off'], 'unavailable'],
      [['over', 'off'], undefined],
      [['off', 'draining'], 'unavailable'],
    ] as const)
      assert.equal(await stateOf(db, ...providers), state, providers.join());
    const [model] = sold('open').values();
    const without = new Map([['m', { ...(model ?? assert.fail()), tiers: [] }]]);
    assert.deepEqual(await listModelTroubles(db, { models: without }), []);
  }));

test('the end of trouble is the earliest next attempt, and the time of the tasks that wait at the pace of the last jobs', () =>
  rolledBack(database.db, async (db) => {
    const now = await nowMs(db);
    await cool(db, 'a', 'overloaded', 2 * hourMs);
    await cool(db, 'b', 'unknown', hourMs);
    await cool(db, 'held', 'operator', hourMs / 2);
    const trouble = async (...providers: readonly string[]) => {
      const models = sold(...providers);
      const [one] = await listModelTroubles(db, { models });
      const [{ model = '', title = '' } = {}] = models.values();
      const { retryAt = 0, endsAt, ...about } = one ?? assert.fail();
      assert.deepEqual(about, { model, title, state: 'unavailable' });
      return [retryAt - now, endsAt === undefined ? undefined : endsAt - now];
    };
    assert.deepEqual(await trouble('a', 'b'), [hourMs, hourMs]);
    await addWaiting(db, 'b', 3);
    assert.deepEqual(await trouble('a', 'b'), [hourMs, hourMs], 'without a job that succeeded the pace is unknown');
    await endJobs(db, 'b', 2, { outcome: 'success', ended_at: ago(minuteMs) });
    await endJobs(db, 'b', 2, { ...refused, ended_at: ago(8 * minuteMs) });
    assert.deepEqual(await trouble('a', 'b'), [hourMs, hourMs + 3 * 4 * minuteMs]);
    assert.deepEqual(await trouble('a'), [2 * hourMs, 2 * hourMs]);
    assert.deepEqual(await trouble('a', 'held'), [hourMs / 2, undefined], 'an operator has to act');
    await addWaiting(db, 'b', 996);
    assert.deepEqual(await trouble('b'), [hourMs, hourMs + 999 * 4 * minuteMs]);
    await addWaiting(db, 'b', 1);
    assert.deepEqual(await trouble('b'), [hourMs, undefined], 'others are not counted');
  }));
