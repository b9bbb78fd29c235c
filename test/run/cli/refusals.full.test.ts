import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { listApiKeys } from '../../../src/accounts/keys/keys.ts';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { startGrpcProxy } from '../../support/proxies/grpc-proxy.ts';
import { temporalAddress } from '../../support/servers/server-addresses.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 0 });
});
after(() => database.close());

function run(...args: readonly string[]) {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  return videogen(env, ...args);
}

const refused: readonly (readonly [string, () => readonly string[], RegExp])[] = [
  [
    'a key that has expired already',
    () => ['key', 'create', '--account', accountId, '--expires', '2020-01-01'],
    /future/,
  ],
  ['a key that expires now', () => ['key', 'create', '--account', accountId, '--expires', '0d'], /future/],
  [
    'a key that expires in a year beyond the limit',
    () => ['key', 'create', '--account', accountId, '--expires', '9999-12-31'],
    /not be after 2286-11-20T17:46:39\.999Z/,
  ],
  [
    'a key that expires at no time of RFC 3339',
    () => ['key', 'create', '--account', accountId, '--expires', '12/31/2090'],
    /an instant such as 2027-01-31T00:00:00Z/,
  ],
  ['an operator who has expired already', () => ['operator', 'create', 'ada', '--expires', '2020-01-01'], /future/],
  [
    'credits for no reason',
    () => ['credits', 'grant', '5', '--account', accountId, '--reason', ' '],
    /1 to 500 characters/,
  ],
  [
    'credits with a reason that is too long',
    () => ['credits', 'grant', '5', '--account', accountId, '--reason', 'x'.repeat(501)],
    /1 to 500 characters/,
  ],
  ['an account without a name', () => ['account', 'create', ''], /1 to 200 characters/],
  ['an account with a name that is too long', () => ['account', 'create', 'x'.repeat(201)], /1 to 200 characters/],
  ['a key without a name', () => ['key', 'create', '--account', accountId, '--name', ''], /1 to 200 characters/],
];
for (const [what, args, why] of refused) {
  test(`${what} is refused in one line with a hint, and nothing is written`, async () => {
    const { code, stdout, stderr } = await run(...args());
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, why);
    assert.match(stderr, /^error: .*\n\(examples: .* --help\)\n$/);
    assert.deepEqual(await listApiKeys(database.db, accountId), []);
    assert.deepEqual((await readBalanceAndEntries(database.db, { accountId, limit: 1 })).entries, []);
  });
}

test('the length of a reason counts characters, not bytes', async () => {
  const { code, stderr } = await run('credits', 'grant', '5', '--account', accountId, '--reason', '🎬'.repeat(500));
  assert.equal(code, 0, stderr);
});

test('an unreachable database is reported with host, port and reason', async () => {
  const env = {
    ...process.env,
    DATABASE_URL: 'postgres://us:secret@127.0.0.1:1/none',
    VIDEOGEN_SECRET: 's'.repeat(32),
  };
  const { code, stderr } = await videogen(env, 'operator', 'list');
  assert.equal(code, 1);
  assert.equal(stderr, 'database unavailable at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1\n');
});

test('a command without DATABASE_URL creates no installation, and names the variables to set', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'videogen-none-'));
  t.after(() => rm(parent, { recursive: true }));
  const folder = join(parent, 'data');
  const env = { PATH: process.env['PATH'], HOME: parent, VIDEOGEN_DATA: folder };
  for (const args of [['operator', 'list'], ['migrate']]) {
    const { code, stdout, stderr } = await videogen(env, ...args);
    assert.deepEqual([code, stdout], [1, ''], args.join(' '));
    assert.match(stderr, /no installation in .*: set DATABASE_URL or VIDEOGEN_DATA/);
  }
  assert.deepEqual(await readdir(parent), []);
});

const useTriedTemporal: readonly (readonly string[])[] = [['migrate'], ['reconcile'], ['reconcile', '--restored']];
for (const args of useTriedTemporal) {
  test(`${args.join(' ')} reports a Temporal that cannot be used in one line with the remedy, at the first request`, async (t) => {
    let status = 404;
    let requests = 0;
    const { port, close } = await startGrpcProxy(temporalAddress(), () => {
      requests += 1;
      return { ':status': status };
    });
    t.after(close);
    const problemAt = async (address: string, namespace = 'default') => {
      const { code, stdout, stderr } = await videogen(
        {
          ...process.env,
          DATABASE_URL: database.url,
          VIDEOGEN_SECRET: 's'.repeat(32),
          TEMPORAL_ADDRESS: address,
          TEMPORAL_NAMESPACE: namespace,
        },
        ...args,
      );
      assert.deepEqual([code, stdout], [1, '']);
      return stderr;
    };
    assert.match(
      await problemAt('127.0.0.1:1'),
      /^Temporal at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*\. Check TEMPORAL_ADDRESS, .*\n$/,
    );
    assert.match(
      await problemAt(temporalAddress(), 'nowhere'),
      /^Temporal at .* cannot be used: there is no namespace nowhere\. temporal operator namespace create .*\n$/,
    );
    const other = `127.0.0.1:${port}`;
    assert.match(
      await problemAt(other),
      /^Temporal at .* cannot be used: .*\. TEMPORAL_ADDRESS is not Temporal, .*\n$/,
    );
    status = 503;
    assert.match(await problemAt(other), /^Temporal at .* cannot be used: .*\. Check TEMPORAL_ADDRESS, .*\n$/);
    assert.equal(requests, 2, 'a request was repeated');
  });
}

test('migrate rejects an invalid catalogue before it connects, so that it stops an upgrade', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-catalogue-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'models.yaml');
  await writeFile(file, 'models: [{ model: x, prices: [], tiers: [] }]\n');
  const env = {
    ...process.env,
    DATABASE_URL: 'postgres://us@127.0.0.1:1/none',
    VIDEOGEN_SECRET: 's'.repeat(32),
    VIDEOGEN_MODELS: file,
  };
  const { code, stdout, stderr } = await videogen(env, 'migrate');
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^The configuration is not usable:\n/);
  assert.match(stderr, /VIDEOGEN_MODELS: .*models\[0\]\.title: is required/);
  assert.doesNotMatch(stderr, /database/);
});

test('migrate and doctor report a missing password in one line', async () => {
  const url = new URL(database.url);
  url.password = '';
  const env = { ...process.env, DATABASE_URL: url.href, PGPASSWORD: '', VIDEOGEN_SECRET: 's'.repeat(32) };
  const { code, stderr } = await videogen(env, 'migrate');
  assert.equal(code, 1);
  assert.match(stderr, /^the database cannot be used: .*\. Add the password of the user to DATABASE_URL\.\n$/);
  // In a process of its own: the driver leaves the connection open, on which the server waits for a minute.
  const doctor = await videogen(env, 'doctor');
  assert.match(doctor.stdout, /password must be a string[^]*Add the password of the user to DATABASE_URL/);
});
