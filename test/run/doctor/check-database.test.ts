import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { checkDatabase } from '../../../src/run/doctor/check-database.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { insertFirstSigningSecret } from '../../../src/tasks/callbacks/signing-secret-rows.ts';
import { saveReportAndDeleteOld } from '../../../src/catalogue/models/worker-report-rows.ts';
import { insertBackdatedPrice } from '../../support/tasks/backdated-price.ts';
import { findingsOf, lineOf } from '../../support/doctor-findings.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';

// Each check breaks for real; the rest of the installation is sound.

describe('doctor, of the database,', () => {
  let environment: TestEnvironment;
  before(async () => {
    // A secret that may be named in a list.
    environment = await createTestEnvironment({ VIDEOGEN_SECRET: '5b0c0b5f3a0d8c1e9f6a7b2d4c3e1f08' });
  });
  after(() => environment.close());

  /** Without the other checks of doctor, which take longer. */
  const line = async (check: string, extra: Environment = {}) => {
    const config = readConfig({ ...environment.environment, ...extra });
    const findings = await checkDatabase(config.databaseUrl ?? '', config);
    return lineOf(findings.find((finding) => finding.check === check) ?? assert.fail(`${check} is missing`));
  };

  function atDatabase(change: (url: URL) => void): Environment {
    const url = new URL(environment.database.url);
    change(url);
    return { DATABASE_URL: url.href };
  }

  const run = (text: string) => environment.database.db.run({ name: text, text, plannedAnew: true });

  test('reports a wrong password without showing it', async () => {
    const password = 'a-password-that-is-wrong';
    const changed = atDatabase((url) => void (url.password = password));
    const findings = await findingsOf({ ...environment.environment, ...changed });
    const found = [...findings.values()].map(lineOf).join('\n');
    assert.match(found, /^error: .*password authentication failed.* → Correct user and password/m);
    assert.ok(!found.includes(password));
  });

  test('reports a database that does not exist, and one that does not answer', async () => {
    const missing = await line(
      'database',
      atDatabase((url) => void (url.pathname = '/no_such')),
    );
    assert.match(missing, /^error: .*no_such.* → Create the database/);
    const port = await reserveFreePort();
    const closed = await line(
      'database',
      atDatabase((url) => void (url.port = String(port))),
    );
    assert.match(closed, /^error: .*ECONNREFUSED.* → Check host and port/);
  });

  test('reports what a user may not do with our tables, and that it cannot migrate', async (t) => {
    const role = `doctor_${process.pid}`;
    await run(`create role ${role} login password 'p'`);
    t.after(() => run(`drop owned by ${role}`).then(() => run(`drop role ${role}`)));
    const asRole = atDatabase((url) => {
      [url.username, url.password] = [role, 'p'];
    });
    await run(`grant select on all tables in schema public to ${role}`);
    assert.match(
      await line('rights', asRole),
      /^error: .*lacks INSERT, UPDATE, DELETE on account.* → .*GRANT SELECT, INSERT/,
    );
    assert.match(await line('rights to migrate', asRole), /^warning: .*owner of database and tables/);
    await run(`grant insert, update, delete on all tables in schema public to ${role}`);
    // Only a migration writes these.
    await run(`revoke insert, update, delete on kysely_migration, kysely_migration_lock from ${role}`);
    assert.match(await line('rights', asRole), /^ok: /);
  });

  test('reports an older schema, a newer one, and an empty database', async (t) => {
    const last = String((await run(`select max(name) as name from kysely_migration`))[0]?.['name']);
    await run(`update kysely_migration set name = '9999-later' where name = '${last}'`);
    t.after(() => run(`update kysely_migration set name = '${last}' where name = '9999-later'`));
    assert.match(
      await line('schema'),
      new RegExp(`^error: older than this release, which needs ${last} → .*videogen migrate`),
    );
    await run(`insert into kysely_migration values ('${last}', '2026-01-01')`);
    assert.match(await line('schema'), /^warning: newer than this release: 9999-later/);
    await run(`delete from kysely_migration where name = '${last}'`);
    assert.match(
      await line(
        'schema',
        atDatabase((url) => void (url.pathname = '/postgres')),
      ),
      /^error: the database is empty/,
    );
  });

  test('reports a database that is read only', async (t) => {
    const name = new URL(environment.database.url).pathname.slice(1);
    await run(`alter database ${name} set default_transaction_read_only = on`);
    t.after(() => run(`set transaction_read_only = off; alter database ${name} reset default_transaction_read_only`));
    assert.match(await line('database'), /^error: .*read only → Reset default_transaction_read_only/);
  });

  test('reports a pool that is larger than what the database has left', async () => {
    assert.match(
      await line('connections', { DATABASE_POOL_SIZE: '900' }),
      /^warning: .*opens up to 900.* → Raise max_conn/,
    );
  });

  test('reports how far the clocks are apart', async (t) => {
    assert.match(await line('clock'), /^ok: [01]\.\d+ s/);
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() - 3_600_000 });
    assert.match(await line('clock'), /^error: 36\d\d\.\d+ s behind that of the database → Run a time service/);
  });

  test('reports a VIDEOGEN_SECRET that does not open what is stored', async () => {
    const { accountId } = await createTestAccount(environment.database);
    const sealed = createSecretBox(environment.settings.secret).seal('whsec_x', accountId);
    await insertFirstSigningSecret(environment.database.db, accountId, 'callback', sealed);
    assert.match(await line('stored secrets'), /^ok: .*\(1 tried\)/);
    const other = { VIDEOGEN_SECRET: 'quite another one, and long enough for that' };
    assert.match(await line('stored secrets', other), /^error: .*does not open 1 of 1 .* → Name the secret/);
    const both = { ...other, VIDEOGEN_SECRET_PREVIOUS: environment.settings.secret };
    assert.match(await line('stored secrets', both), /^ok: .*1 by VIDEOGEN_SECRET_PREVIOUS/);
  });

  test('reports the models that no live worker can generate, and why a worker refuses the catalogue', async () => {
    assert.match(await line('models'), /^unknown: no worker has reported/);
    const report = { workerId: randomUUID(), queue: 'generation', models: ['videogen-2.0'] } as const;
    await saveReportAndDeleteOld(environment.database.db, { ...report, refusal: 'providers.x.key: X_KEY is not set' });
    assert.match(await line('models'), /^error: not sold.*: videogen-2.0-fast; .*X_KEY is not set → Set the secret/);
    const models = ['videogen-2.0', 'videogen-2.0-fast'];
    await saveReportAndDeleteOld(environment.database.db, { ...report, models, refusal: 'X_KEY is not set' });
    assert.match(await line('models'), /^warning: a worker refuses the catalogue: X_KEY/);
    await saveReportAndDeleteOld(environment.database.db, { ...report, models, refusal: undefined });
    assert.match(await line('models'), /^ok: /);
  });

  test('reports prices of operators whose name has left the catalogue, until they are ended', async () => {
    const { db } = environment.database;
    const { accountId } = await createTestAccount(environment.database);
    const [removed, fromMs] = [{ model: 'videogen-2.0', priceName: 'full HD' }, 3_000];
    await insertBackdatedPrice(db, { model: 'videogen-2.0', creditsPerSecond: 30, fromMs });
    assert.match(await line('prices'), /^ok: the catalogue has all prices that operators set \(1\)/);
    await insertBackdatedPrice(db, { ...removed, creditsPerSecond: 70, fromMs });
    await insertBackdatedPrice(db, { ...removed, accountId, creditsPerSecond: 60, fromMs });
    await insertBackdatedPrice(db, {
      model: 'removed',
      accountId,
      creditsPerSecond: 9,
      fromMs: Date.now() + 3_600_000,
    });
    assert.equal(
      await line('prices'),
      "warning: operators set prices that the catalogue does not have, so they change no charge: removed 'standard' " +
        "(accounts: 1), videogen-2.0 'full HD' (accounts: 1) → Give the price its name again in the catalogue. Or set the price " +
        'that replaces it, and end this one with its account: ' +
        "videogen api POST /api/admin/v1/prices/set -f model=removed -f priceName='standard' -F creditsPerSecond=null -f reason=…",
    );
    await insertBackdatedPrice(db, { ...removed, creditsPerSecond: undefined, fromMs: fromMs + 1 });
    await insertBackdatedPrice(db, { ...removed, accountId, creditsPerSecond: undefined, fromMs: fromMs + 1 });
    assert.match(await line('prices'), /: removed 'standard' \(accounts: 1\) →/);
  });
});
