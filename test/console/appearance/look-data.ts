import { createAccount } from '../../../src/credits/open-account.ts';
import { changeAccountLimitsAs } from '../../../src/accounts/accounts.ts';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { sharePathPrefix, shareVideo } from '../../../src/library/gallery/share-links.ts';
import { createInvitation, pathOfLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { setPriceAs } from '../../../src/credits/prices/operator-prices.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createdTask, waitForRecord } from '../../support/service/call-api.ts';
import type { TestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

// A studio after two weeks of work, for the pictures of `npm run look`.

const prompts = [
  'A paper boat drifts down a rainy street at dusk, neon reflections, shallow depth of field',
  'Macro shot of morning dew on a fern, slow dolly in, soft golden light',
  'A red fox crosses a frozen lake, aerial view, long shadows',
  'Product shot: a ceramic teapot turns on a walnut table, studio light',
  'שלום עולם, a prompt from right to left',
  'A tram climbs a steep street in Lisbon, handheld, late afternoon',
  'Ink spreads in water and forms a whale, black background',
  `One prompt that is as long as a screenplay: ${'the camera passes another window and another, '.repeat(4)}end`,
  'A lighthouse in a storm, waves over the rocks, wide shot',
  'Time lapse of a city from day to night, seen from a rooftop',
] as const;
const ratios = ['16:9', '9:16', '1:1'] as const;
/** Failures that the preview provider produces on demand. */
const failing = ['[[reject]] A prompt that the model refuses', '[[crash]] A job that the model loses'] as const;
const ended = 42;

export type FilledStudio = {
  readonly accountId: string;
  /** Ids of tasks. */
  readonly succeeded: string;
  readonly failed: string;
  /** Paths of an open invitation and of a shared video. */
  readonly invitation: string;
  readonly shared: string;
};

/** `receiver` answers the callbacks whose body contains "reject" with 410, and the others with 204. */
export async function fillStudio(service: TestService, receiver: string): Promise<FilledStudio> {
  const { db } = service.database;
  const operator = { kind: 'command_line', name: 'ada' } as const;
  const accountId = await createAccount(db, { name: 'Harbor Films', credits: 60_000 });
  const keys: string[] = [];
  for (const name of ['production', 'staging']) {
    const created = await createKeyUnchecked(db, { accountId, name, scopes });
    if (created === undefined) throw new Error('the account is gone');
    keys.push(created.key);
  }
  const taskIds: string[] = [];
  for (let index = 0; index < ended; index += 1) {
    const key = keys[index % 3 === 2 ? 1 : 0] ?? '';
    // The newest ten are rendered; the others are ready-made clips.
    const isRendered = index >= ended - prompts.length;
    const text =
      index % 9 === 4 ? failing[index % 2] : `${prompts[index % prompts.length]}${isRendered ? '' : ' [[instant]]'}`;
    const model = index % 4 === 3 ? 'videogen-2.0' : 'videogen-2.0-fast';
    const input = { prompt: text, duration: 4 + (index % 3), ratio: ratios[index % ratios.length] };
    taskIds.push(await createdTask({ ...service, key }, input, { model, callBackUrl: `${receiver}/hook` }));
  }
  const states = new Map<string, unknown>();
  for (const taskId of taskIds) {
    const record = await waitForRecord({ ...service, key: keys[0] ?? '' }, taskId);
    states.set(taskId, record['state']);
  }
  const newest = (state: string) => taskIds.findLast((taskId) => states.get(taskId) === state) ?? '';
  await waitFor('the end of the callbacks', async () => {
    const rows = await db.run({ name: 'look-owed', text: `select from callback_deliveries where state = 'pending'` });
    return rows.length === 0 ? true : undefined;
  });
  await dateRows(db);
  await addRecords(db, accountId, taskIds);
  await setPriceAs(db, operator, {
    model: 'videogen-2.0',
    priceName: 'standard',
    creditsPerSecond: 45,
    creditsPerVideo: 0,
    accountId: undefined,
    reason: 'The provider costs more.',
  });
  await changeAccountLimitsAs(db, operator, { accountId, maxUnfinishedTasks: 500 });
  const [succeeded, failed] = [newest('success'), newest('fail')];
  return { accountId, succeeded, failed, ...(await createLinks(db, accountId, succeeded)) };
}

async function createLinks(db: Database, accountId: string, taskId: string) {
  const origin = { address: '203.0.113.7', userAgent: 'Chromium' };
  const invitee = { email: 'grace@example.com', accountId, role: 'member', isOperator: false } as const;
  const invitation = await createInvitation(db, { actor: 'ada@example.com', origin }, invitee);
  const by = { kind: 'key', keyId: 'production' } as const;
  const link = { taskId, title: 'A boat at dusk', showsAccount: true, expiresAt: Date.now() + 86_400_000 };
  const shared = await shareVideo(db, { accountId, by, origin }, link);
  if (shared.kind !== 'shared') throw new Error(`the video was not shared: ${shared.kind}`);
  return { invitation: pathOfLink(invitation), shared: sharePathPrefix + shared.token };
}

/** Spreads the tasks, and what belongs to them, over the last two weeks by their order. */
async function dateRows(db: Database): Promise<void> {
  await db.transaction(async (run) => {
    for (const [index, text] of dating.entries()) await run({ name: `look-date-${index}`, text });
  });
}

const dating = [
  // The triggers that keep money and ends as they are would refuse it.
  'set local session_replication_role = replica',
  `create temp table dated on commit drop as
select id, ended, ended - make_interval(secs => 38 + 7 * back) as begun, ended - make_interval(secs => 41 + 7 * back) as accepted
from (select id, back, now() - make_interval(hours => 8 * back, mins => 12 + back * back % 37) as ended
      from (select id, row_number() over (order by created_at desc)::int - 1 as back from tasks) as ordered) as ends`,
  `update tasks set created_at = accepted, completed_at = ended, updated_at = ended,
  generation_started_at = case when generation_started_at is not null then begun end from dated where dated.id = tasks.id`,
  `update provider_jobs set intended_at = begun, reserved_at = begun, submitted_at = begun + interval '1 s',
  ended_at = ended - interval '2 s', upstream_ended_at = ended - interval '3 s' from dated where dated.id = task_id`,
  `update ledger_entries set created_at = case kind when 'charge' then accepted else ended end from dated where dated.id = task_id`,
  `update ledger_entries set created_at = now() - interval '15 days' where task_id is null`,
  // A receiver that refused for good has had one attempt, and gets no other one during the run: here it has had three.
  `insert into callback_attempts (delivery_id, attempt, started_at, duration_ms, status)
select delivery_id, further, started_at, duration_ms, 500 from callback_attempts, generate_series(2, 3) as further where status = 410`,
  `update callback_attempts set started_at = ended + make_interval(secs => 4 * attempt ^ 3 - 3), duration_ms = 30 + attempt,
  status = case status when 410 then 500 else status end from dated where dated.id = delivery_id`,
  `update callback_deliveries as d set created_at = ended, finished_at = ended + interval '2 s',
  state = case state when 'rejected' then 'failed' else state end from dated where dated.id = d.task_id`,
  `update accounts set created_at = now() - interval '15 days'`,
  `update api_keys set created_at = now() - interval '15 days'`,
];

/** Purchases, favorites and tags, as an owner and an operator leave them. */
async function addRecords(db: Database, accountId: string, taskIds: readonly string[]): Promise<void> {
  const bought = {
    name: 'look-top-ups',
    text: `insert into top_ups (id, account_id, provider, is_test, package, credits, currency, minor_units, state, checkout_id,
  payment_id, receipt_url, settled_by, created_at, paid_at)
select gen_random_uuid(), $1, 'stripe', true, name, credits, 'EUR', cents, case when days is null then 'expired' else 'paid' end,
  'cs_test_' || name, 'pi_' || name, null, case when days is not null then 'event' end, now() - make_interval(days => coalesce(days, 3)),
  now() - make_interval(days => days)
from (values ('starter', 10000, 999, 13), ('studio', 120000, 9900, 6), ('agency', 700000, 49900, null)) as bought (name, credits, cents, days)`,
  };
  const favorite = {
    name: 'look-favorite',
    text: 'insert into task_favorites select id, account_id, created_at from tasks where id = $1',
  };
  const tag = {
    name: 'look-tag',
    text: 'insert into task_tags select id, $2, account_id, created_at from tasks where id = $1',
  };
  await db.run(bought, [accountId]);
  for (const [index, taskId] of taskIds.entries()) {
    if (index % 4 === 0) await db.run(favorite, [taskId]);
    await db.run(tag, [taskId, ['spring campaign', 'moodboard', 'client review'][index % 3]]);
  }
}
