import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import { installationSources } from '../../../src/run/metrics/scrape-sources.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { exportScrapedGauges } from '../../../src/run/metrics/export-scraped-gauges.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { setProviderSwitchAs, startCooldown } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let isUnavailable = false;
let catalogue = catalogueOf(['alpha', 'beta']);
let reads = 0;
const metrics = createMetrics();
before(async () => {
  database = await createTestDatabase();
  const run: typeof database.db.run = (statement, values) => {
    reads += 1;
    return isUnavailable
      ? Promise.reject(new DatabaseUnavailableError(false, new Error('unreachable')))
      : database.db.run(statement, values);
  };
  exportScrapedGauges(
    metrics.registry,
    installationSources({ ...database.db, run }, () => catalogue),
    0,
  );
});
after(() => database.close());

function catalogueOf(names: readonly string[]): Catalogue {
  const providers = names.map((name) => [name, { kind: 'own', baseUrl: `http://${name}.example`, limit: 1 }] as const);
  const tiers = [names.map((provider) => ({ provider, model: 'org/wan-2' }))];
  const models = [
    { model: 'm', title: 'M', prices: [{ creditsPerSecond: 7 }], tiers },
    { model: 'p', title: 'P', prices: [{ creditsPerSecond: 7 }] },
  ];
  const resolved = resolveCatalogue({ providers: Object.fromEntries(providers), models });
  assert.ok(resolved.catalogue !== undefined, JSON.stringify(resolved.problems));
  return { ...resolved.catalogue, files: new Map() };
}

async function scraped(): Promise<readonly string[]> {
  const lines = (await metrics.registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith('videogen_provider_')).map((line) => line.slice(18));
}

test('slots, waiting tasks, cooldowns and switches of the catalogue are scraped as they are in the database', async () => {
  const { db } = database;
  const accountId = await createAccount(db, { name: 'waits', credits: 1_000_000 });
  for (const kind of ['granted', 'full']) {
    const taskId = await acceptTestTask(db, accountId, taskParam('a slot'));
    const place = { taskId, ordinal: 1, accountId, pool: 'alpha/org/wan-2', provider: 'alpha', limit: 1 };
    assert.equal((await reserveSlot(db, place)).kind, kind);
  }
  const failure = { pool: 'beta/org/wan-2', provider: 'beta', reason: 'busy', isOfProvider: false } as const;
  const place = { ordinal: 1, accountId, limit: 1, provider: 'beta' };
  for (const pool of ['beta/org/wan-2', 'beta/gone'])
    await reserveSlot(db, { ...place, pool, taskId: await acceptTestTask(db, accountId, taskParam('b')) });
  await startCooldown(db, { ...failure, baseMs: 3_600_000, maxMs: 3_600_000 });
  const actor = { kind: 'command_line', name: 'ada' } as const;
  await setProviderSwitchAs(db, actor, { provider: 'beta', state: 'draining', reason: 'a test' });
  reads = 0;
  const lines = await scraped();
  assert.equal(reads, 6, 'all gauges share one read of each source; that of the providers takes two statements');
  const timed = /^(?:longest_wait|cooldown)_seconds/;
  assert.deepEqual(
    lines.filter((line) => !timed.test(line)),
    [
      'slots{provider="alpha",model="org/wan-2"} 1',
      'slots{provider="beta",model="org/wan-2"} 1',
      'slots_taken{provider="alpha",model="org/wan-2"} 1',
      'slots_taken{provider="beta",model="org/wan-2"} 1',
      'tasks_waiting{provider="alpha",model="org/wan-2"} 1',
      'tasks_waiting{provider="beta",model="org/wan-2"} 0',
      'switch{provider="alpha",state="enabled"} 1',
      'switch{provider="alpha",state="draining"} 0',
      'switch{provider="alpha",state="off"} 0',
      'switch{provider="beta",state="enabled"} 0',
      'switch{provider="beta",state="draining"} 1',
      'switch{provider="beta",state="off"} 0',
    ],
  );
  const cooling = lines.flatMap((line) => /^cooldown_seconds\{provider="(\w+)",.*\} (\S+)$/.exec(line)?.slice(1) ?? []);
  assert.deepEqual([cooling[0], cooling[1], cooling[2]], ['alpha', '0', 'beta']);
  assert.ok(Number(cooling[3]) > 3_000);
});

test('the last known state is scraped while the database is unavailable; what leaves the catalogue is scraped no more', async () => {
  const known = (await scraped()).filter((line) => line.startsWith('slots_taken'));
  isUnavailable = true;
  assert.deepEqual(
    (await scraped()).filter((line) => line.startsWith('slots_taken')),
    known,
  );
  isUnavailable = false;
  catalogue = catalogueOf(['alpha']);
  assert.deepEqual(
    (await scraped()).filter((line) => line.includes('beta')),
    [],
  );
});
