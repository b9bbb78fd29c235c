import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clockFinding,
  connectionsFinding,
  databaseTlsFinding,
  explainDatabaseError,
  isConnectionError,
  serverFindings,
} from '../../../src/run/doctor/check-database.ts';
import type { DatabaseFacts } from '../../../src/run/doctor/database-facts.ts';

// What doctor concludes from the facts of a database. test/run/doctor/check-database reads them from a real one.

const facts: DatabaseFacts = {
  versionNumber: 150_000,
  version: '15.0',
  user: 'films',
  database: 'video',
  tls: undefined,
  isStandby: false,
  isReadOnly: false,
  maxConnections: 97,
  usedConnections: 20,
  userConnections: undefined,
  databaseConnections: undefined,
  now: 0,
  mayCreate: true,
  hasMigrations: true,
};

for (const [changed, state, message] of [
  [{}, 'ok', /^PostgreSQL 15\.0, database video as films$/],
  [{ versionNumber: 149_999 }, 'error', /older than 15$/],
  [{ isStandby: true, isReadOnly: true }, 'error', /a standby$/],
  [{ isReadOnly: true }, 'error', /read only$/],
] as const) {
  test(`a server with ${JSON.stringify(changed)} is ${state}`, () => {
    const [finding, ...others] = serverFindings({ ...facts, ...changed });
    assert.deepEqual([finding?.check, finding?.state, others], ['database', state, []]);
    assert.match(finding?.message ?? '', message);
  });
}

for (const [tls, url, state, message] of [
  [undefined, 'postgres:///video', 'ok', /on this machine/],
  [undefined, 'postgres://localhost/video', 'ok', /on this machine/],
  [undefined, 'postgres://127.0.0.1/video', 'ok', /on this machine/],
  [undefined, 'postgres://[::1]/video', 'ok', /on this machine/],
  [undefined, 'postgres://db.test/video?host=/run/postgresql', 'ok', /on this machine/],
  [undefined, 'postgres://localhost/video?host=db.test', 'warning', /unencrypted/],
  [undefined, 'postgres://db.test/video', 'warning', /unencrypted/],
  ['TLSv1.3', 'postgres://db.test/video', 'ok', /^TLSv1\.3$/],
  ['TLSv1.3', 'postgres://db.test/video?sslmode=require', 'ok', /^TLSv1\.3$/],
  ['TLSv1.3', 'postgres://db.test/video?sslmode=no-verify', 'warning', /not checked/],
  ['TLSv1.3', 'postgres://db.test/video?sslmode=require&uselibpqcompat=true', 'warning', /not checked/],
  ['TLSv1.3', 'postgres://db.test/video?sslmode=prefer&uselibpqcompat=true', 'warning', /not checked/],
  ['TLSv1.3', 'postgres://db.test/video?sslmode=verify-full&uselibpqcompat=true', 'ok', /^TLSv1\.3$/],
  ['TLSv1.3', 'postgres://db.test/video?sslmode=require&uselibpqcompat=true&sslrootcert=/ca', 'ok', /^TLSv1\.3$/],
] as const) {
  test(`a connection by ${url} ${tls === undefined ? 'without' : 'with'} TLS is ${state}`, () => {
    const finding = databaseTlsFinding({ tls }, url);
    assert.deepEqual([finding.check, finding.state], ['database tls', state]);
    assert.match(finding.message, message);
  });
}

for (const [changed, most] of [
  [{}, 97],
  [{ userConnections: 40 }, 40],
  [{ databaseConnections: 50 }, 50],
  [{ userConnections: 60, databaseConnections: 50 }, 50],
  [{ userConnections: 200, databaseConnections: 200 }, 97],
] as const) {
  test(`of the connections with ${JSON.stringify(changed)}, ${most} may be open, and a process needs its whole pool`, () => {
    const stateOf = (poolSize: number) => connectionsFinding({ ...facts, ...changed }, poolSize);
    assert.deepEqual([stateOf(most - 20).state, stateOf(most - 19).state], ['ok', 'warning']);
    assert.equal(stateOf(10).message, `20 of ${most} connections are in use; a process opens up to 10`);
  });
}

test('a clock that differs by two seconds is a warning, by a minute an error, in either direction', () => {
  for (const [skewMs, state] of [
    [0, 'ok'],
    [1_999, 'ok'],
    [2_000, 'warning'],
    [59_999, 'warning'],
    [60_000, 'error'],
  ] as const)
    assert.deepEqual([clockFinding(skewMs).state, clockFinding(-skewMs).state], [state, state], `${skewMs}`);
  assert.match(clockFinding(1_500).message, /^1\.500 s behind that of the database$/);
  assert.match(clockFinding(-1_500).message, /^1\.500 s ahead of that of the database$/);
});

const withCode = (code: string, message = 'it failed') => Object.assign(new Error(message), { code });

test('each error of a connection has its remedy, and is one', () => {
  const trust = /^Name the certificate of its authority/;
  const remedies = {
    '28P01': /^Correct user and password/,
    '28000': /pg_hba/,
    '3D000': /^Create the database/,
    '42501': /GRANT CONNECT/,
    '53300': /^Raise max_connections/,
    '57P03': /^Wait until/,
    ENOENT: /^Correct sslrootcert/,
    EACCES: /read the files/,
    ERR_TLS_CERT_ALTNAME_INVALID: /a host name/,
    CERT_HAS_EXPIRED: /^Renew/,
    SELF_SIGNED_CERT_IN_CHAIN: trust,
    DEPTH_ZERO_SELF_SIGNED_CERT: trust,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
    UNABLE_TO_GET_ISSUER_CERT: trust,
    CERT_SIGNATURE_FAILURE: trust,
    ECONNREFUSED: /^Check host and port/,
    EPIPE: /^Check host and port/,
    '08006': /^Check host and port/,
  };
  for (const [code, remedy] of Object.entries(remedies)) {
    const error = new Error('database unavailable', { cause: withCode(code) });
    const explained = explainDatabaseError(error);
    assert.equal(explained.message, `database unavailable (${code})`);
    assert.match(explained.remedy, remedy, code);
    assert.ok(isConnectionError(error) && isConnectionError(withCode(code)), code);
  }
  for (const code of ['42P01', '23505', '22P02']) assert.ok(!isConnectionError(withCode(code)), code);
});

test('an error without a code is explained by its words', () => {
  for (const [message, remedy] of [
    ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', /^Add the password/],
    ['The server does not support SSL connections', /^Turn TLS on/],
    ['Connection: sslv3 alert handshake failure', /client certificate/],
    ['timeout exceeded when trying to connect', /^Check host and port/],
    ['Connection terminated unexpectedly', /^Check host and port/],
  ] as const) {
    const explained = explainDatabaseError(new Error(message));
    assert.equal(explained.message, message);
    assert.match(explained.remedy, remedy, message);
    assert.ok(isConnectionError(new Error(message)), message);
  }
  assert.ok(!isConnectionError(new Error('a migration failed')));
  assert.equal(explainDatabaseError(withCode('53300', '53300: too many')).message, '53300: too many');
});
