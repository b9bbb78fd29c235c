import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../src/tasks/end/close-account-rows.ts';
import { findAccount } from '../../src/accounts/accounts.ts';
import { createOneTimeLink, findLink } from '../../src/accounts/sign-in/one-time-links.ts';
import { acceptLinkAndSignIn } from '../../src/accounts/sign-in/sign-in.ts';
import { type Answer, assertRefused } from '../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../support/service/http-service.ts';
import { plainImage } from '../support/hostile/hostile-images.ts';
import { createTestOperator, type TestOperator } from '../support/service/operator-key.ts';
import { newMember } from '../support/service/person.ts';
import { waitFor } from '../support/wait-for.ts';

// Nothing gives new life to an account that is closed, also when both happen at the same time.

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(() => service.close());

const actor = { kind: 'command_line', name: 'test' } as const;
const closed = (accountId: string) => closeAccountAs(service.database.db, actor, { accountId, reason: 'asked for' });

/** Everything by which somebody could get into the account. */
async function waysIn(accountId: string) {
  const [row] = await service.database.db.run<{ keys: number; members: number; links: number }>(
    {
      name: 'test-ways-in',
      text: `
select (select count(*) from api_keys where account_id = $1 and revoked_at is null)::int as keys,
  (select count(*) from memberships where account_id = $1)::int as members,
  (select count(*) from one_time_links where account_id = $1 and used_at is null and withdrawn_at is null)::int as links`,
    },
    [accountId],
  );
  return row;
}

const nothing = { keys: 0, members: 0, links: 0 };

const key = (accountId: string) => operator.ask('POST', '/api/admin/v1/keys', { body: { accountId, name: 'late' } });
const invitation = (accountId: string) =>
  operator.ask('POST', '/api/admin/v1/people/invite', { body: { email: 'late@example.com', accountId } });
const booking = (path: 'grant' | 'adjust', body: Record<string, unknown>, idempotencyKey: string = randomUUID()) =>
  operator.ask('POST', `/api/admin/v1/credits/${path}`, {
    body: { reason: 'a test', ...body },
    headers: { 'idempotency-key': idempotencyKey },
  });
const grant = (accountId: string, idempotencyKey?: string) =>
  booking('grant', { accountId, credits: 5 }, idempotencyKey);
const suspension = (path: string) => (accountId: string) =>
  operator.ask('POST', `/api/admin/v1/accounts/${path}`, { body: { accountId, reason: 'a test' } });

const limits = (accountId: string) =>
  operator.ask('POST', '/api/admin/v1/accounts/limits', { body: { accountId, maxUnfinishedTasks: 3 } });

test('a closed account creates nothing, has neither keys nor members, and stays closed', async () => {
  const { accountId, person } = await newMember(service);
  const { accountId: someoneElse } = await service.newAccount(0);
  const close = (body: object) => person.ask('POST', '/api/console/v1/account/close', { accountId, body });
  assert.equal((await close({ accountId: someoneElse })).status, 422);
  assert.equal((await close({ accountId })).status, 200);
  assertRefused(await person.ask('GET', '/api/console/v1/members', { accountId }), 404, /account not found/);
  const body = { accountId, reason: 'asked for' };
  for (const action of ['suspend', 'unsuspend'])
    assertRefused(await operator.ask('POST', `/api/admin/v1/accounts/${action}`, { body }), 409, /closed for good/);
  const shown = await operator.ask('GET', '/api/admin/v1/accounts/show', { query: { accountId } });
  const { closeTime, suspendTime } = (shown.json.data as { account: Record<string, unknown> }).account;
  assert.ok(closeTime === suspendTime && closeTime !== null);
  const again = await operator.ask('POST', '/api/admin/v1/accounts/close', { body });
  assert.equal(again.json.data['closeTime'], closeTime);
  const other = await service.newAccount(1000);
  const reason = 'asked for';
  await operator.ask('POST', '/api/admin/v1/accounts/close', { body: { accountId: other.accountId, reason } });
  assertRefused(await service.create(other.key, plainRequest), 401, /valid API key/);
});

const newLife = {
  'a key': key,
  'an invitation': invitation,
  'a grant': (accountId: string) => grant(accountId),
  'a suspension': suspension('suspend'),
  'the end of its suspension': suspension('unsuspend'),
  'limits of its own': limits,
  'another name': (accountId: string) =>
    operator.ask('POST', '/api/admin/v1/accounts/rename', { body: { accountId, name: 'Harbor Films' } }),
} as const;

for (const [what, ask] of Object.entries(newLife)) {
  test(`409 an operator who asks for ${what} is told which account is closed`, async () => {
    const { accountId } = await service.newAccount(100);
    await closed(accountId);
    assertClosed(await ask(accountId), accountId);
    assert.deepEqual(await waysIn(accountId), nothing);
    assert.equal((await findAccount(service.database.db, accountId))?.balance, 100);
  });

  test(`409 ${what}, asked for while the account is being closed, waits for the outcome`, async () => {
    const { accountId } = await service.newAccount(100);
    const had = { ...(await waysIn(accountId)), ...(await madeIn(accountId)) };
    const late = await askedDuringClosing(accountId, () => ask(accountId));
    assertClosed(late, accountId);
    assert.deepEqual({ ...(await waysIn(accountId)), ...(await madeIn(accountId)) }, had);
    assert.equal((await findAccount(service.database.db, accountId))?.balance, 100);
  });
}

function assertClosed(answer: Answer, accountId: string): void {
  assertRefused(answer, 409, new RegExp(`^account ${accountId} is closed for good$`));
  assert.equal(answer.json.error, 'account_closed');
}

/** Asks while a transaction has closed the account that is not committed yet; commits when the question waits for it. */
async function askedDuringClosing<T>(accountId: string, ask: () => Promise<T>): Promise<T> {
  const { db } = service.database;
  const late = await db.transaction(async (run) => {
    const text = 'update accounts set closed_at = now(), suspended_at = now() where id = $1';
    await run({ name: 'test-close', text }, [accountId]);
    const asked = ask();
    const waiting = `
select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%accounts%'`;
    await waitFor('the question to wait', async () => (await db.run({ name: 'test-waiting', text: waiting }))[0]);
    return { asked };
  });
  return late.asked;
}

test('200 the books of a closed account are corrected, and a grant of before is answered again', async () => {
  const { accountId } = await service.newAccount(100);
  const earlier = randomUUID();
  assert.equal((await grant(accountId, earlier)).status, 200);
  await closed(accountId);
  const again = await grant(accountId, earlier);
  assert.deepEqual([again.status, again.headers['idempotency-replayed']], [200, 'true']);
  assert.equal((await booking('adjust', { accountId, amount: -5 })).status, 200);
  assert.equal((await findAccount(service.database.db, accountId))?.balance, 100);
});

test('members are refused who ask for keys, invitations, secrets, another name and a threshold while their account is being closed', async () => {
  for (const [path, body] of [
    ['/api/v1/keys', { name: 'mine' }],
    ['/api/console/v1/members/invite', { email: 'friend@example.com', role: 'viewer' }],
    ['/api/v1/callbacks/secret/rotate', {}],
    ['/api/console/v1/account/rename', { name: 'Harbor Films' }],
    ['/api/v1/credits/low-balance', { lowBalance: 100 }],
  ] as const) {
    const { accountId, person } = await newMember(service);
    const late = await askedDuringClosing(accountId, () => person.ask('POST', path, { accountId, body }));
    assertClosed(late, accountId);
    const { apiKeys, links, secrets } = await madeIn(accountId);
    assert.deepEqual([apiKeys, links, secrets], [0, 0, 0], path);
  }
});

test('an image that is uploaded while the account is being closed is refused, and not kept', async () => {
  const { accountId, key: ownKey } = await service.newAccount(0);
  const headers = { authorization: `Bearer ${ownKey}`, 'content-type': 'image/png' };
  const body = await plainImage(300, 300).png().toBuffer();
  const late = await askedDuringClosing(accountId, () => service.send('POST', '/api/v1/uploads', { headers, body }));
  assertClosed(late, accountId);
  const stored = { name: 'test-uploads', text: 'select from uploads where account_id = $1' };
  assert.deepEqual(await service.database.db.run(stored, [accountId]), []);
});

test('a rotation of a key is refused while the account is being closed', async () => {
  const { accountId, person } = await newMember(service);
  const made = await person.ask('POST', '/api/v1/keys', { accountId, body: { name: 'mine' } });
  const body = { keyId: made.json.data['keyId'] };
  const rotate = () => person.ask('POST', '/api/v1/keys/rotate', { accountId, body });
  assertClosed(await askedDuringClosing(accountId, rotate), accountId);
  assert.equal((await madeIn(accountId)).apiKeys, 1);
});

/** Keys, links and secrets, revoked and used ones too. */
async function madeIn(accountId: string): Promise<{ apiKeys: number; links: number; secrets: number }> {
  const text = `
select (select count(*) from api_keys where account_id = $1)::int as "apiKeys",
  (select count(*) from one_time_links where account_id = $1)::int as links,
  (select count(*) from callback_secrets where account_id = $1)::int as secrets`;
  const [row] = await service.database.db.run<{ apiKeys: number; links: number; secrets: number }>(
    { name: 'test-made-in', text },
    [accountId],
  );
  assert.ok(row);
  return row;
}

test('a link into an account that is being closed lets nobody in', async () => {
  const { accountId } = await service.newAccount(100);
  const { db } = service.database;
  const email = 'late-guest@example.com';
  const { token } = await createOneTimeLink(db, {
    purpose: 'invite',
    email,
    accountId,
    role: 'owner',
    isOperator: false,
  });
  const link = await findLink(db, token);
  assert.ok(link);
  const origin = { address: '10.0.0.1', userAgent: 'test' };
  const accept = () => acceptLinkAndSignIn(db, { link, email, passwordHash: 'x', origin });
  assert.equal(await askedDuringClosing(accountId, accept), undefined);
  assert.equal((await waysIn(accountId))?.members, 0);
});

test('whatever is done while an account is closed, it has no key, no member and no link afterwards', async () => {
  const { db } = service.database;
  const outcomes = new Set<string>();
  for (let round = 0; round < 25; round += 1) {
    const { accountId, person } = await newMember(service);
    const invited = { purpose: 'invite', email: `guest-${round}@example.com`, accountId, role: 'member' } as const;
    const { token } = await createOneTimeLink(db, { ...invited, isOperator: false });
    const link = await findLink(db, token);
    assert.ok(link);
    const origin = { address: '10.0.0.1', userAgent: 'test' };
    const requests: readonly (() => Promise<{ readonly status: number }>)[] = [
      () => operator.ask('POST', '/api/admin/v1/keys', { body: { accountId, name: 'late' } }),
      () =>
        operator.ask('POST', '/api/admin/v1/people/invite', {
          body: { email: `late-${round}@example.com`, accountId },
        }),
      () => person.ask('POST', '/api/v1/keys', { accountId, body: { name: 'mine' } }),
      () =>
        person.ask('POST', '/api/console/v1/members/invite', {
          accountId,
          body: { email: `friend-${round}@example.com`, role: 'viewer' },
        }),
      async () => {
        const session = await acceptLinkAndSignIn(db, { link, email: invited.email, passwordHash: 'x', origin });
        return { status: session === undefined ? 410 : 200 };
      },
    ];
    const send = () => requests.map((request) => request());
    // In the first round a request is faster than the closing, in the second none is; in the others chance decides, and who starts
    // first alternates.
    const early = round % 2 === 1 ? closed(accountId) : undefined;
    if (round === 1) await early;
    const sent = send();
    if (round === 0) await Promise.race(sent);
    await (early ?? closed(accountId));
    const answers = await Promise.all(sent);
    for (const { status } of answers) {
      assert.ok([200, 401, 403, 404, 409, 410].includes(status), String(status));
      outcomes.add(status === 200 ? 'was faster' : 'was refused');
    }
    assert.deepEqual(await waysIn(accountId), nothing);
  }
  assert.deepEqual([...outcomes].toSorted(), ['was faster', 'was refused']);
});
