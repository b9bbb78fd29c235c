import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { migrateToLatest } from '../../src/stores/migrator.ts';
import { postgresUrl } from '../support/servers.ts';

// A measurement, run by hand: how long clients wait while tables of many rows are migrated.
//   ROWS=10000000 node dist/test/runner/main.js --script dist/test/production/large-tables.js
// The tables are filled as the release of `from` left them. Then statements like those of a create go on for as long as the migration
// takes. Their waits for locks are told by PostgreSQL; their times also have the machine in them.

const rows = Number(process.env['ROWS'] ?? 100_000);
const from = '0009-dialect';
const clients = 3;
const quietMs = 10_000;

/** Each client has accounts of its own, so that clients do not wait for each other's rows. */
const createText = `
with account as (
  update accounts set balance = balance - 1 where id = (select id from accounts where name = 'client ' || pg_backend_pid() % 50)
  returning id, balance
), task as (
  insert into tasks (id, account_id, model, param, credits_charged, request_sha256)
  select gen_random_uuid(), id, 'm', '{}', 1, sha256('x') from account returning id, account_id
)
insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
select account_id, task.id, 'charge', -1, balance from task join account on account.id = account_id`;

/** How long the one that waits longest for a lock of a table has waited until now. */
const waitText = `
select max(extract(epoch from clock_timestamp() - waitstart) * 1000)::float8 as ms from pg_locks
join pg_stat_activity using (pid)
where not granted and locktype = 'relation' and query like '%with account as%' and pid <> pg_backend_pid()`;

const fillText = `
set session_replication_role = replica;
set synchronous_commit = off;
set maintenance_work_mem = '512MB';
insert into accounts (id, name, balance) select gen_random_uuid(), 'client ' || n, 1000000000 from generate_series(0, 49) n;
insert into tasks (id, account_id, model, param, credits_charged, request_sha256, state, result, completed_at, created_at)
select lpad(to_hex(n), 32, '0')::uuid, (select id from accounts where name = 'client 0'), 'm',
  '{"model":"m","input":{"prompt":"a film of some length, as clients write them"}}', 1, sha256('x'), 'success', '{}', now(),
  now() - (${rows} - n) * interval '1 second' from generate_series(1, ${rows}) n;
insert into ledger_entries (account_id, task_id, kind, amount, balance_after, created_at)
select account_id, id, 'charge', -1, 1, created_at from tasks;
insert into provider_jobs (task_id, ordinal, provider, job_id, outcome, ended_at)
select id, 1, 'p', id::text, 'success', now() from tasks`;

const server = await postgresUrl();
const name = `large_${randomBytes(4).toString('hex')}`;
const url = new URL(server);
url.pathname = `/${name}`;
await once(server, `create database ${name}`);
try {
  await migrateToLatest(url.href, { to: from });
  const filledMs = await timed(() => once(url.href, fillText));
  say(`${rows} rows in tasks, provider_jobs and ledger_entries, filled in ${seconds(filledMs)}, ${await size()}`);
  const load = await startLoad();
  await delay(quietMs);
  say(`before: ${load.figures()}`);
  let retries = 0;
  const migratedMs = await timed(() => migrateToLatest(url.href, { onRetry: () => (retries += 1) }));
  say(`meanwhile: ${load.figures()}`);
  say(
    `migrated from ${from} in ${seconds(migratedMs)}; ${retries} locks were given up and tried again; ${await size()}`,
  );
  await load.stop();
} finally {
  await once(server, `drop database ${name} with (force)`);
}

/** Statements of clients, and a watch over how long any of them waits for a lock. */
async function startLoad() {
  const over = new AbortController();
  let [longestWaitMs, times]: [number, number[]] = [0, []];
  const client = async () => {
    const connection = await connect(url.href);
    while (!over.signal.aborted) {
      times.push(await timed(() => connection.query(createText)));
      await delay(5);
    }
    await connection.end();
  };
  const watch = async () => {
    const connection = await connect(url.href);
    while (!over.signal.aborted) {
      const { rows: found } = await connection.query<{ ms: number | null }>(waitText);
      longestWaitMs = Math.max(longestWaitMs, found[0]?.ms ?? 0);
      await delay(2);
    }
    await connection.end();
  };
  const running = [...Array.from({ length: clients }, client), watch()];
  return {
    figures: () => {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number) => `${(sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0)} ms`;
      const text = `${sorted.length} creates, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}; longest wait for a lock of a table ${longestWaitMs.toFixed(0)} ms`;
      [longestWaitMs, times] = [0, []];
      return text;
    },
    stop: async () => {
      over.abort();
      await Promise.all(running);
    },
  };
}

async function size(): Promise<string> {
  const { rows: found } = await once(url.href, 'select pg_size_pretty(pg_database_size(current_database())) as size');
  return String(found[0]?.['size']);
}

async function once(target: string, text: string): Promise<pg.QueryResult<Record<string, unknown>>> {
  const connection = await connect(target);
  try {
    return await connection.query<Record<string, unknown>>(text);
  } finally {
    await connection.end();
  }
}

async function connect(target: string): Promise<pg.Client> {
  const connection = new pg.Client({ connectionString: target });
  await connection.connect();
  return connection;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
