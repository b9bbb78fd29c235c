import assert from 'node:assert/strict';
import { chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { type Environment, readConfig } from '../../../src/run/config/config.ts';
import { type PostgresServer, startPostgres } from '../../../src/run/embedded/postgres/postgres-server.ts';
import { checkDatabase } from '../../../src/run/doctor/check-database.ts';
import { checkTemporal } from '../../../src/run/doctor/check-temporal.ts';
import type { Finding } from '../../../src/run/doctor/checks-and-findings.ts';
import { createDatabase } from '../../../src/platform/database/database.ts';
import { createTask } from '../../support/service/call-api.ts';
import { type Certificates, makeCertificates, skipsWithoutOpenssl } from '../../support/proxies/certificates.ts';
import { endPrograms } from '../../support/processes/programs.ts';
import { temporalAddress } from '../../support/servers/server-addresses.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { startTlsTemporal, type TlsTemporal } from '../../support/proxies/tls-temporal.ts';
import { spawnEntryPoint, videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

const user = 'tls_user';
const apiKey = 'the-api-key-of-the-tests';

describe('over TLS, with certificates on both sides', { skip: skipsWithoutOpenssl }, () => {
  let folder: string;
  let files: Certificates;
  let postgres: PostgresServer;
  let temporal: TlsTemporal;
  let mutual: Environment;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-tls-'));
    files = makeCertificates(folder, user);
    postgres = await startPostgres({ folder: join(folder, 'postgres'), log: () => {} });
    await demandCertificates(join(folder, 'postgres', 'cluster'));
    temporal = await startTlsTemporal(temporalAddress(), files, apiKey);
    mutual = {
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_API_KEY: apiKey,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: files.ca,
      TEMPORAL_TLS_CLIENT_CERT_PATH: files.client.cert,
      TEMPORAL_TLS_CLIENT_KEY_PATH: files.client.key,
    };
  });
  after(async () => {
    await endPrograms();
    await temporal.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The user may only come over TLS, and with a certificate in its name. */
  async function demandCertificates(cluster: string): Promise<void> {
    const { uid, gid } = statSync(cluster);
    for (const [from, to] of [
      [files.server.cert, 'server.crt'],
      [files.server.key, 'server.key'],
      [files.ca, 'root.crt'],
    ] as const) {
      copyFileSync(from, join(cluster, to));
      chownSync(join(cluster, to), uid, gid);
    }
    const access = join(cluster, 'pg_hba.conf');
    writeFileSync(access, `hostssl all ${user} all cert\nhost all ${user} all reject\n${readFileSync(access, 'utf8')}`);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`create role ${user} login`);
    await client.query(`create database tls owner ${user}`);
    for (const setting of ["ssl_ca_file = 'root.crt'", 'ssl = on']) await client.query(`alter system set ${setting}`);
    await client.query('select pg_reload_conf()');
    await client.end();
    await waitFor('TLS', async () => ((await database({})).startsWith('ok') ? true : undefined));
  }

  const authority = () => ({ sslmode: 'verify-full', sslrootcert: files.ca });
  const own = () => ({ sslcert: files.client.cert, sslkey: files.client.key });

  function databaseUrl(parameters: Record<string, string>, host = 'localhost'): string {
    const url = new URL(postgres.url);
    [url.hostname, url.username, url.password, url.pathname] = [host, user, '', '/tls'];
    url.search = new URLSearchParams(parameters).toString();
    return url.href;
  }

  /** The findings of `doctor` about the database; without parameters, with those that work. */
  async function database(parameters: Record<string, string>, host?: string): Promise<string> {
    const wanted = Object.keys(parameters).length === 0 ? { ...authority(), ...own() } : parameters;
    const findings = await checkDatabase(databaseUrl(wanted, host), { ...readConfig({}), databasePoolSize: 1 });
    return said(findings, 'database', 'database tls');
  }

  async function temporalSays(change: Environment): Promise<string> {
    const { temporal: target } = readConfig({ ...mutual, ...change });
    assert.ok(target);
    return said(await checkTemporal({ target, taskQueue: 'tls', queues: [] }), 'temporal', 'temporal tls');
  }

  test('PostgreSQL is reached by sslmode=verify-full, with our authority and our certificate', async () => {
    assert.match(await database({}), /^ok: PostgreSQL \d+.* as tls_user \| ok: TLSv1\.\d$/);
  });

  test('PostgreSQL with a certificate of another authority, or of an unnamed one, is refused', async () => {
    const wrong = { ...own(), sslmode: 'verify-full', sslrootcert: files.otherCa };
    assert.match(await database(wrong), /^error: .* → Name the certificate of its authority/);
    assert.match(
      await database({ ...own(), sslmode: 'verify-full' }),
      /^error: .* → Name the certificate of its authority/,
    );
  });

  test('PostgreSQL at a host that its certificate does not name is refused, by address too', async () => {
    assert.match(
      await database({ ...authority(), ...own() }, '127.0.0.1'),
      /^error: .*altnames.* → Use in DATABASE_URL a host name/,
    );
  });

  test('"require" checks authority and host like verify-full, and "no-verify" nothing, which doctor warns of', async () => {
    assert.match(
      await database({ ...own(), sslmode: 'require' }),
      /^error: .* → Name the certificate of its authority/,
    );
    assert.match(
      await database({ ...own(), sslmode: 'no-verify' }),
      /^ok: .* \| warning: TLSv1\.\d, but .* not checked/,
    );
  });

  test('PostgreSQL refuses us without our certificate, and without TLS', async () => {
    assert.match(await database(authority()), /^error: .*certificate.* → .*sslcert, sslkey/);
    assert.match(await database({ sslmode: 'disable' }), /^error: .*pg_hba.* → /);
  });

  test('a file that is missing is named, and a process that runs goes on with the files that are there now', async () => {
    const moved = join(folder, 'renewed.crt');
    const missing = { ...authority(), sslcert: moved, sslkey: files.client.key };
    assert.match(await database(missing), /^error: .*ENOENT.*renewed\.crt.* → Correct sslrootcert, sslcert and sslkey/);
    const db = createDatabase({ url: databaseUrl(missing), poolSize: 1 });
    const query = () => db.run({ name: 'test-query', text: 'select 1 as one' });
    await assert.rejects(query(), { name: 'DatabaseUnavailableError', wasSent: false });
    copyFileSync(files.client.cert, moved);
    assert.deepEqual(await query(), [{ one: 1 }]);
    await db.close();
  });

  test('Temporal is reached by its own variables: authority, certificate and API key', async () => {
    assert.match(await temporalSays({}), /^ok: Temporal \d.* \| ok: used, with a client certificate$/);
  });

  for (const [what, change, remedy] of [
    [
      'without a certificate of ours',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' },
      /TEMPORAL_/,
    ],
    ['with another authority', { TEMPORAL_TLS_SERVER_CA_CERT_PATH: 'other' }, /TEMPORAL_TLS_SERVER_CA_CERT_PATH/],
    [
      'under a name that is not in its certificate',
      { TEMPORAL_TLS_SERVER_NAME: 'temporal.test' },
      /TEMPORAL_TLS_SERVER_NAME/,
    ],
    ['with a wrong API key', { TEMPORAL_API_KEY: 'not-the-key' }, /Correct TEMPORAL_API_KEY/],
    ['without TLS', { TEMPORAL_TLS: 'false' }, /TEMPORAL_TLS/],
  ] as const) {
    test(`Temporal is not reached ${what}, and doctor reports it`, async () => {
      const isOther = 'TEMPORAL_TLS_SERVER_CA_CERT_PATH' in change;
      const line = await temporalSays(isOther ? { TEMPORAL_TLS_SERVER_CA_CERT_PATH: files.otherCa } : change);
      assert.match(line, /^error: /);
      assert.match(line, remedy);
      assert.ok(!line.includes('not-the-key'));
    });
  }

  test('invalid certificates are reported with all other invalid settings, before anything connects', () => {
    const wrong = {
      ...mutual,
      TEMPORAL_TLS_CLIENT_KEY_PATH: '',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'none.crt'),
      TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true',
      PORT: 'x',
    };
    assert.throws(
      () => readConfig(wrong),
      (error: Error) =>
        /TEMPORAL_TLS_CLIENT_CERT_PATH: .*key/.test(error.message) &&
        /TEMPORAL_TLS_SERVER_CA_CERT_PATH: ENOENT/.test(error.message) &&
        /TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: /.test(error.message) &&
        /PORT: must be/.test(error.message),
    );
  });

  test('migrate, an API and a worker use them, and a task succeeds', async () => {
    const environment: TestEnvironment = await createTestEnvironment();
    const DATABASE_URL = databaseUrl({ ...authority(), ...own() });
    const env = { ...environment.environment, ...mutual, DATABASE_URL };
    const db = createDatabase({ url: DATABASE_URL, poolSize: 2 });
    try {
      const untrusted = await videogen(
        { ...env, DATABASE_URL: databaseUrl({ ...own(), sslmode: 'verify-full' }) },
        'migrate',
      );
      assert.equal(untrusted.code, 1);
      assert.match(untrusted.stderr, /certificate.*Name the certificate of its authority/s);
      assert.doesNotMatch(untrusted.stderr, /^\s+at /m);
      const migrated = await videogen(env, 'migrate');
      assert.equal(migrated.code, 0, migrated.stderr);
      const { key } = await createTestAccount({ db });
      for (const part of ['api', 'worker'] as const) spawnEntryPoint(part, env);
      const baseUrl = environment.settings.publicUrl;
      await waitFor('the API', async () => {
        const answer = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
        return answer?.ok === true ? true : undefined;
      });
      const request = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] over TLS', duration: 4 } };
      const { status, body } = await createTask({ baseUrl, key }, request);
      assert.equal(status, 200, body.msg);
      const task = await waitForEnd(db, String(body.data['taskId']));
      assert.equal(task.state, 'success', JSON.stringify(task.failure));
    } finally {
      await endPrograms();
      await db.close();
      await environment.close();
    }
  });
});

function said(findings: readonly Finding[], ...checks: readonly string[]): string {
  const lines = checks.flatMap((name) => {
    const finding = findings.find(({ check }) => check === name);
    if (finding === undefined) return [];
    const remedy = finding.remedy === undefined ? '' : ` → ${finding.remedy}`;
    return [`${finding.state}: ${finding.message}${remedy}`];
  });
  return lines.join(' | ');
}
