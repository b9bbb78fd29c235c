import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { type Logger, pino } from 'pino';
import type { ServiceEvents } from '../../../../src/run/metrics/service-event.ts';
import { watchReadiness } from '../../../../src/run/main/monitoring/watch-readiness.ts';
import { startApi } from '../../../../src/run/main/start-api.ts';
import { createDatabase, type DatabasePool } from '../../../../src/platform/database/database.ts';
import { connectTemporal } from '../../../../src/temporal/connection/connect.ts';
import {
  createTestAccount,
  createTestEnvironment,
  type TestEnvironment,
} from '../../../support/service/test-service.ts';
import { recordEvents } from '../../../support/service/metric-event-sinks.ts';
import { reserveFreePort } from '../../../../src/run/embedded/local-ports.ts';
import { waitFor } from '../../../support/wait-for.ts';

// The rules of /readyz over a real database and a real Temporal. test/api/app and test/run/metrics/start-metrics show how it answers.

/** What the API of these tests has logged. */
const logged: string[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
let environment: TestEnvironment;
/** May write when the database is read-only by default. */
let database: DatabasePool;
const closings: (() => Promise<void>)[] = [];
before(async () => {
  environment = await createTestEnvironment({ DATABASE_POOL_SIZE: '1' });
  closings.push(() => environment.close());
  database = createDatabase({
    url: `${environment.settings.databaseUrl}?options=-c%20default_transaction_read_only%3Doff`,
  });
  closings.push(() => database.close());
  closings.push((await startApi(environment.settings, log)).close);
});
after(async () => {
  for (const close of closings.toReversed()) await close();
});

const run = (text: string) => database.run({ name: text, text });

async function readReadiness(): Promise<{ status: number; reasons: string }> {
  const response = await fetch(`${environment.settings.publicUrl}/readyz`);
  const { data } = (await response.json()) as { data: { reasons?: readonly string[] } }; // the service's envelope
  return { status: response.status, reasons: data.reasons?.join() ?? '' };
}

const waitUntil = (what: string, status: number, reason: RegExp) =>
  waitFor(what, async () => {
    const found = await readReadiness();
    return found.status === status && reason.test(found.reasons) ? true : undefined;
  });

test('an API is not ready on a schema that lacks a migration of its release, and names it', async (t) => {
  assert.equal((await readReadiness()).status, 200, 'the first check has ended before the API listens');
  const [last] = await run(
    'delete from kysely_migration where name = (select max(name) from kysely_migration) returning *',
  );
  t.after(() => run(`insert into kysely_migration values ('${String(last?.['name'])}', '2026-01-01')`));
  await waitUntil('the older schema', 503, new RegExp(`older than this release.*${String(last?.['name'])}`));
});

test('an API is not ready while its database is read-only, and is again when it accepts writes', async (t) => {
  await waitUntil('a ready API', 200, /^$/);
  const name = new URL(environment.settings.databaseUrl).pathname.slice(1);
  // Sessions get a changed default when they begin.
  const setDefault = async (change: string) => {
    await run(`alter database "${name}" ${change}`);
    await run(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
    );
  };
  t.after(() => setDefault('reset default_transaction_read_only'));
  await setDefault('set default_transaction_read_only = on');
  await waitUntil('the read-only database', 503, /^database is read-only$/);
  await setDefault('reset default_transaction_read_only');
  await waitUntil('a ready API', 200, /^$/);
  const said = logged.join('');
  assert.match(said, /"level":40,.*"part":"api","reason":"database is read-only","msg":"not ready"/);
  assert.match(said, /"level":30,.*"part":"api","after":"database [a-z -]+","msg":"ready again"/);
});

test('an API stays ready while all connections of its pool are in use', async () => {
  await waitUntil('a ready API', 200, /^$/);
  const lastCheck = async () =>
    Number(
      (
        await run(
          `select coalesce(max(query_start), 'epoch') as at from pg_stat_activity where query like '%kysely_migration%' and pid <> pg_backend_pid()`,
        )
      )[0]?.['at'],
    );
  const { publicUrl } = environment.settings;
  const { key } = await createTestAccount({ db: database });
  await database.transaction(async (inTransaction) => {
    await inTransaction({ name: 'lock', text: 'lock table api_keys in access exclusive mode' });
    const blocked = fetch(`${publicUrl}/api/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
    blocked.catch(() => {});
    await waitFor('the blocked request', async () => ((await run(blockedSessions)).length > 0 ? true : undefined));
    for (let checks = 0; checks < 2; checks++) {
      const checkedAt = await lastCheck();
      await waitFor('another check', async () => ((await lastCheck()) > checkedAt ? true : undefined));
    }
    assert.deepEqual(await readReadiness(), { status: 200, reasons: '' });
  });
});

const blockedSessions = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

async function watch(given: { events: ServiceEvents; databaseUrl: string; namespace?: string; log?: Logger }) {
  const { temporal } = environment.settings;
  const connection = connectTemporal(
    { ...temporal, namespace: given.namespace ?? temporal.namespace },
    { retries: false },
  );
  const readiness = await watchReadiness({
    part: 'worker',
    databaseUrl: given.databaseUrl,
    temporal: connection.client,
    events: given.events,
    log: given.log ?? log,
    pauseMs: 20,
  });
  return { ...readiness, close: async () => void (await Promise.all([readiness.close(), connection.close()])) };
}

test('a worker is not ready without its namespace or its database, and the result of each check is counted', async (t: TestContext) => {
  const { databaseUrl } = environment.settings;
  const nowhere = `postgres://a@127.0.0.1:${await reserveFreePort()}/b`;
  const role = `readiness_${process.pid}`;
  await run(`create role ${role} login password 'p'`);
  t.after(() => run(`drop role ${role}`));
  const changed = (change: Partial<Pick<URL, 'username' | 'password' | 'pathname'>>) =>
    Object.assign(new URL(databaseUrl), change).href;
  for (const [given, reasons, isDatabaseUp, isTemporalUp] of [
    [{ databaseUrl }, [], true, true],
    [{ databaseUrl, namespace: 'lost' }, ['Temporal has no namespace lost'], true, false],
    // Without its address.
    [{ databaseUrl: nowhere }, ['database unavailable'], false, true],
    [
      { databaseUrl: changed({ pathname: '/postgres' }) },
      ['database has no schema: run "videogen migrate"'],
      false,
      true,
    ],
    [
      { databaseUrl: changed({ username: role, password: 'p' }) },
      ['this database user may not read the table kysely_migration'],
      false,
      true,
    ],
  ] as const) {
    const events = recordEvents('database_checked', 'temporal_checked');
    const lines: string[] = [];
    const noted = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const watched = await watch({ ...given, events, log: noted });
    t.after(() => watched.close());
    const first = ['database_checked', 'temporal_checked'].map((kind) => events.seen.find((one) => one.kind === kind));
    assert.deepEqual(
      [watched.reasons(), first],
      [
        reasons,
        [
          { kind: 'database_checked', part: 'worker', isUp: isDatabaseUp },
          { kind: 'temporal_checked', part: 'worker', isUp: isTemporalUp },
        ],
      ],
    );
    // Once, and with the error that the public reason leaves out.
    const said = lines.map((line) => JSON.parse(line) as { part: string; reason: string; err?: object; msg: string });
    assert.deepEqual(
      said.map(({ part, reason, err, msg }) => [part, reason, err !== undefined, msg]),
      reasons.map((reason) => ['worker', reason, reason === 'database unavailable', 'not ready']),
    );
  }
});

test('a clock that is an hour ahead of the database is said at the start, and counted', async (t: TestContext) => {
  const events = recordEvents('clock_checked');
  const lines: string[] = [];
  const noted = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const realNow = Date.now.bind(Date);
  const mocked = t.mock.method(Date, 'now', () => realNow() + 3_600_000);
  const off = await watch({ events, databaseUrl: environment.settings.databaseUrl, log: noted });
  t.after(() => off.close());
  mocked.mock.restore();
  const [{ part, offsetMs } = assert.fail('no check')] = events.seen;
  // A response takes less than ten minutes.
  assert.ok(Math.abs(offsetMs - 3_600_000) < 600_000, `${offsetMs} ms`);
  assert.equal(part, 'worker');
  await waitFor('the end of the difference', () => lines.find((line) => line.includes('clock agrees')));
  const [differs, agrees] = lines.filter((line) => line.includes('clock')).map((line) => JSON.parse(line) as LogLine);
  assert.deepEqual(differs && [differs.level, differs.msg, differs.part, differs.offsetSeconds, differs.remedy], [
    40,
    'clock differs from that of the database',
    'worker',
    offsetMs / 1000,
    'run a time service on this machine and that of the database',
  ]);
  assert.deepEqual([agrees?.level, agrees?.part], [30, 'worker']);
});

type LogLine = {
  readonly level: number;
  readonly msg: string;
  readonly part: string;
  readonly offsetSeconds?: number;
  readonly remedy?: string;
};
