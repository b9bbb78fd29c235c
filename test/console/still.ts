import { createHash } from 'node:crypto';
import type { BrowserContext, Route } from 'playwright-core';
import type { Database } from '../../src/platform/database/database.ts';
import { waitFor } from '../support/wait-for.ts';

// What makes two runs of `npm run look` give the same pictures. The service goes by the true clock, and no test of it should know
// another one: so the rows are dated by their place, and the answers are rewritten on their way to the page, whose clock stands.

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Noon of the day that the pages show, in UTC. */
const shownNoon = Date.UTC(2026, 2, 11, 12);
const startMs = Date.now();
/** The noon before or after the true instant; what is shown differs from it by whole days, so that days stay days. */
const trueNoon = Math.floor(startMs / dayMs) * dayMs + dayMs / 2;

/** Dates the tasks of an account, and what belongs to them, by their order: the last one ended some minutes before noon. */
export async function dateRows(db: Database): Promise<void> {
  await waitFor('the end of the callbacks', async () => {
    const rows = await db.run({ name: 'look-owed', text: `select from callback_deliveries where state = 'pending'` });
    return rows.length === 0 ? true : undefined;
  });
  await db.transaction(async (run) => {
    for (const [index, text] of dating.entries()) await run({ name: `look-date-${index}`, text });
  });
}

const noon = `to_timestamp(${trueNoon / 1000})`;
const begin = `to_timestamp(${trueNoon / 1000 - 6 * 86_400})`;
const dating = [
  // The triggers that keep money and ends as they are would refuse it.
  'set local session_replication_role = replica',
  `create temp table dated on commit drop as
select id, ended, ended - make_interval(secs => 38 + 7 * back) as begun, ended - make_interval(secs => 41 + 7 * back) as accepted
from (select id, back, ${noon} - make_interval(hours => 17 * back, mins => 12) as ended
      from (select id, row_number() over (order by created_at desc)::int - 1 as back from tasks) as ordered) as ends`,
  `update tasks set created_at = accepted, completed_at = ended, updated_at = ended,
  generation_started_at = case when generation_started_at is not null then begun end from dated where dated.id = tasks.id`,
  `update provider_jobs set intended_at = begun, reserved_at = begun, submitted_at = begun + interval '1 s',
  ended_at = ended - interval '2 s', upstream_ended_at = ended - interval '3 s' from dated where dated.id = task_id`,
  `update ledger_entries set created_at = case kind when 'charge' then accepted else ended end from dated where dated.id = task_id`,
  `update ledger_entries set created_at = ${begin} where task_id is null`,
  // A receiver that refused for good has had one attempt, and gets no other one during the run: here it has had three.
  `insert into callback_attempts (delivery_id, attempt, started_at, duration_ms, status)
select delivery_id, further, started_at, duration_ms, 500 from callback_attempts, generate_series(2, 3) as further where status = 410`,
  `update callback_attempts set started_at = ended + make_interval(secs => 4 * attempt ^ 3 - 3), duration_ms = 30 + attempt,
  status = case status when 410 then 500 else status end from dated where dated.id = delivery_id`,
  `update callback_deliveries as d set created_at = ended, finished_at = ended + interval '2 s',
  state = case state when 'rejected' then 'failed' else state end from dated where dated.id = d.task_id`,
  `update accounts set created_at = ${begin}, name = case when unnamed.place = 1 then 'Harbour Films' else 'Night Owl Studio' end
from (select id, row_number() over (order by created_at) as place from accounts) as unnamed where unnamed.id = accounts.id`,
  `update api_keys set created_at = ${begin}, name = 'production', hint = 'vg_4hTq…9sWd'`,
];

const named = ['accounts', 'api_keys', 'tasks', 'users', 'sessions', 'security_events', 'prices'] as const;

/** From true ids to those that are shown: made of the table and the place in it. */
async function shownIds(db: Database): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const table of named) {
    const text = `select id::text from ${table} where id::text like '%-%' order by created_at, id`;
    const rows = await db.run<{ id: string }>({ name: `look-ids-${table}`, text });
    for (const [index, { id }] of rows.entries()) {
      const hex = createHash('sha256').update(`${table} ${index}`).digest('hex');
      const shown = `019ca5c0-${hex.slice(0, 4)}-7${hex.slice(4, 7)}-8${hex.slice(7, 10)}-${hex.slice(10, 22)}`;
      ids.set(id, shown);
      // As in the id of a callback.
      ids.set(id.replaceAll('-', ''), shown.replaceAll('-', ''));
    }
  }
  return ids;
}

type Stillness = { readonly db: Database; readonly addresses: Readonly<Record<string, string>> };

/**
 * The pages of a context show the standing clock, dates that fit it, and ids and addresses that are the same in every run. Answers
 * how they spell a path.
 */
export async function still(context: BrowserContext, { db, addresses }: Stillness): Promise<(path: string) => string> {
  await context.clock.setFixedTime(shownNoon);
  const shown = [...(await shownIds(db)), ...Object.entries(addresses)] as const;
  const toPage = (text: string) => shown.reduce((given, [from, to]) => given.replaceAll(from, to), text);
  const toService = (text: string) => shown.reduce((given, [from, to]) => given.replaceAll(to, from), text);
  await context.route(/\/(?:api|media)\//, async (route: Route) => {
    const request = route.request();
    const url = toService(request.url())
      .replaceAll(/(?<==)\d{4}-\d\d-\d\d(?=&|$)/g, (day) => shifted(day, trueNoon - shownNoon))
      .replaceAll(/(?<=[?&](?:from|to)(?:Time)?=)\d+(?=&|$)/g, (ms) => String(Number(ms) + trueNoon - shownNoon));
    const headers = Object.fromEntries(
      Object.entries(await request.allHeaders())
        .filter(([name]) => !name.startsWith(':'))
        .map(([name, value]) => [name, toService(value)]),
    );
    const response = await route.fetch({ url, headers });
    if (response.headers()['content-type']?.includes('json') !== true) return route.fulfill({ response });
    return route.fulfill({ response, body: toPage(JSON.stringify(await response.json(), shownValue)) });
  });
  return toPage;
}

/** As it is shown at noon: lengths that were measured vary, and so do instants that were not dated. */
function shownValue(key: string, value: unknown): unknown {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\d$/.test(value) ? shifted(value, shownNoon - trueNoon) : value;
  if (typeof value !== 'number') return value;
  if (/(?:age|oldest|oldestWait)Ms$/.test(key)) return Math.min(value, 12_000);
  if (!key.endsWith('Time') || value < startMs - 400 * dayMs) return value;
  if (value % 1000 === 0) return value + shownNoon - trueNoon;
  return shownNoon + Math.floor((value - startMs) / hourMs) * hourMs;
}

function shifted(day: string, byMs: number): string {
  return new Date(Date.parse(day) + byMs).toISOString().slice(0, 10);
}
