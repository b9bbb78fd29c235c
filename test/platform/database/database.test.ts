import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createDatabase,
  type Database,
  DatabaseBusyError,
  DatabaseUnavailableError,
  isDeadlock,
  databaseJoiningTransaction,
  readRow,
  readRows,
  violatedUniqueConstraint,
  wasCancelled,
  withResponseTimeLimit,
} from '../../../src/platform/database/database.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { waitFor } from '../../support/wait-for.ts';

const one = { name: 'test-one', text: 'select 1::bigint as one' };
const sleep = { name: 'test-sleep', text: 'select pg_sleep(30)' };
const invalid = { name: 'test-invalid', text: 'select 1 / $1::int as quotient' };
const big = { name: 'test-big', text: 'select 9007199254740993::bigint as big' };
const pause = { name: 'test-pause', text: `select '2026-11-21 10:00:00.123456+00'::timestamptz as at` };

describe('a database', () => {
  let server: TestDatabase;
  let sockets: Socket[] = [];
  let relay: ReturnType<typeof createServer>;
  let db: Database;
  /** Lets connections reach the server, in the order in which they came; without it they reach it concurrently. */
  let held: (() => void)[] | undefined;
  before(async () => {
    server = await createTestDatabase();
    const target = new URL(server.url);
    relay = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      for (const socket of [client, upstream]) socket.on('error', () => {});
      upstream.pipe(client);
      // Also after a reset, at which `pipe` ends nothing.
      upstream.on('close', () => client.end());
      const forward = () => client.pipe(upstream);
      // A server on a busy machine takes its time before it answers to a new connection.
      if (held === undefined) forward();
      else held.push(forward);
      sockets.push(client, upstream);
    });
    await new Promise<void>((resolve) => {
      relay.listen(0, '127.0.0.1', resolve);
    });
    const url = new URL(server.url);
    url.port = String((relay.address() as AddressInfo).port); // a listening TCP server has one
    db = createDatabase({ url: url.href, poolSize: 1 });
  });
  after(async () => {
    await db.close();
    cut();
    relay.close();
    await server.close();
  });

  function cut(): void {
    for (const socket of sockets) socket.resetAndDestroy();
    sockets = [];
  }

  test('a server that cannot write says so, and nothing was committed', async () => {
    for (const [code, reason] of [
      ['53100', 'disk_full'],
      ['25006', 'read_only'],
      ['58030', undefined],
    ] as const) {
      const text = `do $$ begin raise exception 'planted' using errcode = '${code}'; end $$`;
      await assert.rejects(db.run({ name: `test-refuse-${code}`, text }), (error) => {
        assert.ok(error instanceof DatabaseUnavailableError);
        assert.deepEqual([error.reason, error.wasSent], [reason, false]);
        return true;
      });
    }
  });

  test('a connection that breaks during a statement is reported as such, and ends neither process nor pool', async () => {
    const running = db.run(sleep);
    const watch = {
      name: 'test-watch',
      text: `select 1 from pg_stat_activity where query like '%pg_sleep(30)' and state = 'active'`,
    };
    await waitFor('the statement to run', async () => (await server.db.run(watch))[0]);
    cut();
    await assert.rejects(running, (error) => error instanceof DatabaseUnavailableError && error.wasSent);
    assert.deepEqual(await db.run(one), [{ one: 1 }]);
  });

  test('a connection that breaks while idle is replaced', async () => {
    await db.run(one);
    cut();
    const answer = await db.run(one).catch(() => db.run(one));
    assert.deepEqual(answer, [{ one: 1 }]);
  });

  test('the server ends a transaction that stays idle, as of a dead machine, and a caller that still lives gets an outage', async () => {
    const setting = { name: 'test-setting', text: 'show idle_in_transaction_session_timeout' };
    assert.deepEqual(await db.run(setting), [{ idle_in_transaction_session_timeout: '20s' }]);
    const lock = 4_202_700;
    const isLocked = {
      name: 'test-is-locked',
      text: `select from pg_locks where locktype = 'advisory' and objid = ${lock}`,
    };
    const late = db.transaction(async (run) => {
      await run({ name: 'test-take-lock', text: `select pg_advisory_xact_lock(${lock})` });
      await run({ name: 'test-shorten', text: 'set local idle_in_transaction_session_timeout = 1' });
      await waitFor('the lock to be released', async () => (await server.db.run(isLocked)).length === 0 || undefined);
      await run(one);
    });
    await assert.rejects(late, DatabaseUnavailableError);
    assert.deepEqual(await db.run(one), [{ one: 1 }]);
  });

  test('a server that is slow to take a connection, as on a busy machine, is waited for and not taken for an absent one', async (t) => {
    const url = new URL(server.url);
    url.port = String((relay.address() as AddressInfo).port); // a listening TCP server has one
    held = [];
    const fresh = createDatabase({ url: url.href, poolSize: 1 });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const answer = fresh.run(one);
      await untilTurn('the connection', () => held?.length === 1);
      t.mock.timers.tick(9_000);
      held[0]?.();
      assert.deepEqual(await answer, [{ one: 1 }]);
    } finally {
      held = undefined;
      t.mock.timers.reset();
      await fresh.close();
    }
  });

  test('no connection at all means that nothing was sent', async () => {
    const nowhere = createDatabase({ url: 'postgres://videogen@127.0.0.1:1/none' });
    await assert.rejects(nowhere.run(one), (error) => error instanceof DatabaseUnavailableError && !error.wasSent);
    await nowhere.close();
  });

  test('a statement that fails is not taken for an absent database, and a transaction with one leaves nothing behind', async () => {
    await assert.rejects(db.run(invalid, [0]), /division by zero/);
    await assert.rejects(
      db.transaction(async (run) => {
        await run({ name: 'test-make', text: 'create table left_behind ()' });
        await run(invalid, [0]);
      }),
      /division by zero/,
    );
    const left = { name: 'test-left', text: `select to_regclass('left_behind') as found` };
    assert.deepEqual(await db.run(left), [{ found: null }]);
  });

  test('errors of statements are distinguished by their codes', async () => {
    const errorOf = async (code: string) => {
      const text = `do $$ begin raise exception 'planted' using errcode = '${code}', constraint = 'planted_key'; end $$`;
      return await db.run({ name: `test-error-${code}`, text, plannedAnew: true }).then(
        () => assert.fail('it failed'),
        (error: unknown) => error,
      );
    };
    const errors = [await errorOf('23505'), await errorOf('23503'), await errorOf('40P01'), await errorOf('40001')];
    assert.deepEqual(errors.map(violatedUniqueConstraint), ['planted_key', undefined, undefined, undefined]);
    assert.deepEqual(errors.map(isDeadlock), [false, false, true, false]);
    const outages = [await errorOf('57014'), await errorOf('53300')];
    const cancelled = outages.map((error) => {
      assert.ok(error instanceof DatabaseUnavailableError);
      return wasCancelled(error);
    });
    assert.deepEqual(cancelled, [true, false]);
  });

  test('a session ends its statements after fifteen seconds, and has the name of the program', async () => {
    const text = `select current_setting('statement_timeout') as limit, current_setting('application_name') as name`;
    assert.deepEqual(await db.run({ name: 'test-session', text }), [{ limit: '15s', name: 'videogen' }]);
  });

  test('the usage counts connections, and callers that wait for one', async () => {
    const fresh = createDatabase({ url: server.url, poolSize: 1 });
    try {
      assert.deepEqual(fresh.usage(), { limit: 1, idle: 0, busy: 0, waiting: 0 });
      const waiting = await fresh.transaction(async (run) => {
        await run(one);
        const others = [fresh.run(one), fresh.run(one)];
        assert.deepEqual(fresh.usage(), { limit: 1, idle: 0, busy: 1, waiting: 2 });
        return others;
      });
      await Promise.all(waiting);
      assert.deepEqual(fresh.usage(), { limit: 1, idle: 1, busy: 0, waiting: 0 });
    } finally {
      await fresh.close();
    }
  });

  test('a transaction that joins another one is undone with it', async () => {
    await assert.rejects(
      db.transaction(async (run) => {
        const joined = databaseJoiningTransaction({ run });
        await joined.transaction((inner) => inner({ name: 'test-join', text: 'create table joined ()' }));
        await joined.runExclusive('one', () => run({ name: 'test-join-more', text: 'create table joined_more ()' }));
        throw new Error('undone');
      }),
      /undone/,
    );
    const text = `select to_regclass('joined') as one, to_regclass('joined_more') as other`;
    assert.deepEqual(await db.run({ name: 'test-joined', text }), [{ one: null, other: null }]);
  });

  test('a bigint beyond 2^53 throws rather than lose a credit, and an instant is Unix milliseconds', async () => {
    await assert.rejects(db.run(big), RangeError);
    assert.deepEqual(await db.run(pause), [{ at: Date.UTC(2026, 10, 21, 10, 0, 0, 123) }]);
  });
});

test('work on one account waits half as long as a caller waits for a connection, and work on another account does not wait', async (t) => {
  const db = createDatabase({ url: 'postgres://nowhere.invalid/none', queue: { maxWaiting: 1, waitMs: 1_000 } });
  let finish = () => {};
  let running = Promise.resolve();
  await new Promise<void>((start) => {
    running = db.runExclusive('one', () => {
      start();
      return new Promise<void>((resolve) => (finish = resolve));
    });
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isRefused = false;
  const late = db.runExclusive('one', () => assert.fail('it was refused')).finally(() => (isRefused = true));
  const busy = (error: unknown) =>
    error instanceof DatabaseBusyError && /too many requests wait for one account/.test(error.message);
  const refusals = [
    assert.rejects(late, busy),
    assert.rejects(
      db.runExclusive('one', () => Promise.resolve()),
      busy,
    ),
  ];
  assert.equal(await db.runExclusive('other', () => Promise.resolve('free')), 'free');
  t.mock.timers.tick(499);
  await nextTurn();
  assert.ok(!isRefused);
  t.mock.timers.tick(1);
  await Promise.all(refusals);
  finish();
  await running;
  assert.equal(await db.runExclusive('one', () => Promise.resolve('next')), 'next');
  await db.close();
});

test('a database that cannot be reached is named with the reason, and without its password', async () => {
  const port = await reserveFreePort();
  const db = createDatabase({ url: `postgres://us:secret@127.0.0.1:${port}/films` });
  const message = `database unavailable at 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`;
  await assert.rejects(db.run(one), { name: 'DatabaseUnavailableError', message });
  await db.close();
});

test('a connection that ends with the message after its start is an outage of the database, and not of the process', async () => {
  const server = await createTestDatabase();
  const target = new URL(server.url);
  let isFirst = true;
  const relay = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.pipe(upstream);
    upstream.on('data', (data: Buffer) => {
      const isReady = data.includes(readyForQuery);
      client.write(isFirst && isReady ? Buffer.concat([data, terminated]) : data);
      if (isReady) isFirst = false;
    });
    upstream.on('close', () => client.end());
  });
  await new Promise<void>((resolve) => {
    relay.listen(0, '127.0.0.1', resolve);
  });
  const url = new URL(server.url);
  url.port = String((relay.address() as AddressInfo).port); // a listening TCP server has one
  const db = createDatabase({ url: url.href, poolSize: 1 });
  try {
    await assert.rejects(db.run(one), DatabaseUnavailableError);
    assert.deepEqual(await db.run(one), [{ one: 1 }]);
  } finally {
    await db.close();
    relay.close();
    await server.close();
  }
});

const readyForQuery = Buffer.from('Z\0\0\0\x05I', 'latin1');
const terminatedFields = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0', 'latin1');
/** The error that PostgreSQL sends before it ends a connection. */
const terminated = Buffer.concat([
  Buffer.from('E', 'latin1'),
  Buffer.from([0, 0, 0, 4 + terminatedFields.length]),
  terminatedFields,
]);

test('each null of each row is undefined, and no other value is', async () => {
  const rows = () => [
    { a: null, b: 0, c: null },
    { a: false, b: null, c: '' },
  ];
  const db = { run: () => Promise.resolve(rows()) } as unknown as Database;
  assert.deepEqual(await readRows(db, one), [
    { a: undefined, b: 0, c: undefined },
    { a: false, b: undefined, c: '' },
  ]);
  assert.deepEqual(await readRow(db, one), { a: undefined, b: 0, c: undefined });
});

test('a statement without an answer in its time is an outage, and may have been committed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const answers: unknown[] = [];
  const silent = { run: () => new Promise(() => {}) } as unknown as Database;
  const rejected = assert.rejects(withResponseTimeLimit(silent, 1_000).run(one), (error) => {
    assert.ok(error instanceof DatabaseUnavailableError);
    answers.push(error.wasSent);
    return true;
  });
  t.mock.timers.tick(999);
  await nextTurn();
  assert.deepEqual(answers, []);
  t.mock.timers.tick(1);
  await rejected;
  assert.deepEqual(answers, [true]);
});
