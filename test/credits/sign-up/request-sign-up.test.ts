import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createOneTimeLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import { createCodesAs, withdrawCodesAs } from '../../../src/credits/ledger/redemption-codes.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { createMailQueue, mailKeyPurpose } from '../../../src/platform/mail/mail-queue.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { invitePersonAs } from '../../../src/accounts/people/change-users-as-operator.ts';
import { mailboxOf, type SignUpPolicy } from '../../../src/credits/sign-up/request-sign-up.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { deliveredTo, type MailServer, startMailServer, tokenIn } from '../../support/servers/mail-server.ts';
import {
  type Browser,
  goodPassword,
  newBrowser,
  newPerson,
  type Person,
  shell,
  signIn,
} from '../../support/service/person.ts';

const box = createSecretBox('s'.repeat(32), [], mailKeyPurpose);
const perHour = { hourlyLimit: 1_000, hourlyLimitPerAddress: 5 };
const open: SignUpPolicy = { mode: 'open', domains: [], credits: 50, secrets: ['s'], ...perHour };

let mailServer: MailServer;
let service: HttpService;
let operator: Person;
const policy = { ...open };
const apply = (change: Partial<SignUpPolicy>) => Object.assign(policy, open, change);
before(async () => {
  mailServer = await startMailServer();
  service = await startHttpService({
    mails: createMailQueue(box),
    codeAttempts: createRateLimiter({ quota: 3, windowMs: 60 * 60_000 }),
    signUp: policy,
  });
  operator = await newPerson(service, { isOperator: true });
});
after(async () => {
  await service.close();
  await mailServer.close();
});
beforeEach(() => void apply({}));

const request = (email: string, { browser = newBrowser(service), code }: { browser?: Browser; code?: string } = {}) =>
  browser.ask('POST', '/api/console/v1/sign-up', { body: { email, ...(code !== undefined && { code }) } });

const mailsTo = (email: string) => deliveredTo(email, mailServer, { ...service, box });

async function tokenTo(email: string): Promise<string> {
  const mail = (await mailsTo(email)).at(-1);
  assert.ok(mail, `mail to ${email}`);
  return tokenIn(mail);
}

const accept = (token: string, more: Record<string, unknown> = {}, browser = newBrowser(service)) =>
  browser.ask('POST', '/api/console/v1/links/accept', { body: { token, password: goodPassword, ...more } });
const show = (token: string) => newBrowser(service).ask('POST', '/api/console/v1/links/show', { body: { token } });

async function query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return service.database.db.run({ name: 'test-sign-up', text, plannedAnew: true }, values);
}

test('a person signs up by e-mail, and owns a new account with the start credit, which the ledger and the audit log show', async () => {
  const answer = await request(' Ann@Example.com ');
  assert.deepEqual([answer.status, answer.json.data], [200, {}]);
  const [mail] = await mailsTo('ann@example.com');
  assert.ok(mail);
  assert.equal(mail.from, 'Videogen <no-reply@example.com>');
  assert.match(mail.subject, /^Confirm your e-mail address \(127\.0\.0\.1\)$/);
  assert.match(mail.text, /The link works once, until 20\d\d-\d\d-\d\d \d\d:\d\d UTC\./);
  const token = tokenIn(mail);
  assert.match(mail.text, new RegExp(`${service.url}/console/confirm#${token}`));
  const shown = await show(token);
  assert.deepEqual([shown.json.data['purpose'], shown.json.data['email']], ['confirm', 'ann@example.com']);
  const browser = newBrowser(service);
  const accepted = await accept(token, { accountName: 'Harbor Films' }, browser);
  assert.equal(accepted.status, 200, accepted.json.msg);
  const [account] = accepted.json.data['accounts'] as { accountId: string; name: string; role: string }[];
  assert.ok(account);
  assert.deepEqual([account.name, account.role], ['Harbor Films', 'owner']);
  const books = await query('select kind, amount, balance_after from ledger_entries where account_id = $1', [
    account.accountId,
  ]);
  assert.deepEqual(books, [{ kind: 'grant', amount: 50, balance_after: 50 }]);
  const audit = await operator.ask('GET', `/api/admin/v1/audit?accountId=${account.accountId}`);
  const [action] = audit.json.data['actions'] as { action: string; details: unknown; actor: { name: string } }[];
  assert.deepEqual([action?.action, action?.details], ['accounts.sign_up', { credits: 50 }]);
  assert.equal((await signIn(newBrowser(service), 'ann@example.com')).status, 200);
  assert.equal((await accept(token)).json.error, 'link_not_found', 'the link works once');
});

test('the response is the same for a registered address, whose mail has no link and changes nothing', async () => {
  const { email } = await newPerson(service);
  const [known, unknown] = [await request(email), await request('unknown@example.com')];
  const seen = ({ status, json, headers }: typeof known) => [status, json, Object.keys(headers).toSorted()];
  assert.deepEqual(seen(known), seen(unknown));
  const [mail] = await mailsTo(email);
  assert.ok(mail);
  assert.match(mail.subject, /^You already have an account/);
  assert.match(mail.text, new RegExp(`${service.url}/console/sign-in\n`));
  assert.equal(tokenIn(mail), '');
  assert.equal((await query(`select from users where email = $1`, [email])).length, 1);
  const { json } = await operator.ask('GET', '/api/admin/v1/sign-ups');
  const listed = (json.data['signUps'] as { email: string }[]).map((one) => one.email);
  assert.deepEqual([listed.includes('unknown@example.com'), listed.includes(email)], [true, false]);
});

test('no person signs up by default, and open links end when sign-up is turned off', async () => {
  assert.equal((await request('early@example.com')).status, 200);
  const token = await tokenTo('early@example.com');
  apply({ mode: 'off' });
  assert.deepEqual(Object.entries((await request('late@example.com')).json).slice(0, 3), [
    ['code', 403],
    ['msg', 'sign-up is not offered; ask an owner or operator for an invitation'],
    ['error', 'sign_up_off'],
  ]);
  assert.equal((await show(token)).json.error, 'link_not_found');
  assert.equal((await accept(token)).json.error, 'link_not_found');
  const options = await newBrowser(service).ask('GET', '/api/console/v1/options');
  assert.equal(options.json.data['signUp'], 'off');
  apply({});
  assert.equal((await accept(token)).status, 200);
});

test('by domain, only addresses of exactly these domains sign up', async () => {
  apply({ mode: 'domain', domains: ['example.com', 'example.org'] });
  assert.equal((await request('dora@EXAMPLE.org')).status, 200);
  for (const email of ['dora@example.net', 'dora@sub.example.com', 'dora@notexample.com']) {
    assert.equal((await request(email)).json.error, 'email_domain_not_allowed', email);
  }
});

test('by code, a sign-up needs a redemption code, which the new account redeems once in addition to the start credit', async () => {
  apply({ mode: 'code' });
  const batch = await createCodesAs(service.database.db, shell, { name: 'spring', credits: 20, codes: 1 });
  const [code = ''] = batch.codes;
  assert.equal((await request('cleo@example.com', { code: code.toLowerCase().replaceAll('-', ' ') })).status, 200);
  assert.equal((await request('cora@example.com', { code })).status, 200, 'not used yet');
  const tokens = [await tokenTo('cleo@example.com'), await tokenTo('cora@example.com')];
  const answers = await Promise.all(tokens.map((token) => accept(token)));
  assert.deepEqual(answers.map(({ json }) => json.error ?? 'accepted').toSorted(), ['accepted', 'code_invalid']);
  const opened = answers.find(({ status }) => status === 200)?.json.data['accounts'] as { accountId: string }[];
  const books = await query('select amount, reason from ledger_entries where account_id = $1 order by id', [
    opened[0]?.accountId,
  ]);
  assert.deepEqual(
    books.map(({ amount }) => amount),
    [50, 20],
  );
  const users = await query(`select from users where email in ('cleo@example.com', 'cora@example.com')`);
  assert.equal(users.length, 1, 'the other one can sign up with another code');
  assert.equal((await request('carl@example.com', { code })).json.error, 'code_invalid', 'redeemed');
});

test('of wrong codes sent at once from one network, as many are checked as the limit allows', async () => {
  apply({ mode: 'code' });
  const browser = newBrowser(service);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => request('guess@example.com', { browser, code: 'AAAA-BBBB-CCCC-DDDD' })),
  );
  assert.equal(answers.filter(({ json }) => json.error === 'code_invalid').length, 3);
  assert.equal(answers.filter(({ json }) => json.error === 'too_many_code_attempts').length, 17);
});

test('missing, unknown and withdrawn codes get one error, and guesses are limited by network', async () => {
  apply({ mode: 'code' });
  const batch = await createCodesAs(service.database.db, shell, { name: 'withdrawn', credits: 20, codes: 1 });
  await withdrawCodesAs(service.database.db, shell, { batchId: batch.batchId, reason: 'test' });
  const browser = newBrowser(service);
  const attempts = [undefined, 'AAAA-BBBB-CCCC-DDDD', batch.codes[0]].map((code) => ({
    browser,
    ...(code !== undefined && { code }),
  }));
  for (const attempt of attempts) {
    assert.equal((await request('guess@example.com', attempt)).json.error, 'code_invalid');
  }
  const limited = await request('guess@example.com', { browser });
  assert.equal(limited.json.error, 'too_many_code_attempts');
  const seconds = Number(limited.headers['retry-after']);
  assert.ok(seconds > 0);
  assert.equal(limited.headers['ratelimit'], `"codes";r=0;t=${seconds}`, 'no longer than needed');
  assert.equal((await request('guess@example.com')).json.error, 'code_invalid', 'from another network');
});

test('a network and the installation have hourly limits, which count registered addresses too', async () => {
  const browser = newBrowser(service);
  const { email } = await newPerson(service);
  for (const address of ['m1@example.com', 'm2@example.com', email, 'm3@example.com', 'm4@example.com']) {
    assert.equal((await request(address, { browser })).status, 200);
  }
  const refused = await request('m5@example.com', { browser });
  assert.deepEqual(
    [refused.status, refused.json.error, refused.headers['retry-after']],
    [429, 'too_many_sign_ups', '3600'],
  );
  assert.equal((await request('m5@example.com')).status, 200, 'from another network');
  const requests = `select count(*)::int as count from one_time_links where purpose = 'confirm' and created_at > now() - interval '1 hour'`;
  const [{ count } = assert.fail()] = await query(requests);
  apply({ hourlyLimit: Number(count) + 1 });
  assert.equal((await request('last@example.com')).status, 200);
  assert.equal((await request('m6@example.com')).json.error, 'too_many_sign_ups');
  apply({});
  await query(`update one_time_links set created_at = created_at - interval '1 hour' where purpose = 'confirm'`);
  assert.equal((await request('m6@example.com', { browser })).status, 200, 'an hour later');
});

test('concurrent requests do not exceed the limit of a network', async () => {
  const browser = newBrowser(service);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => request(`r${index}@example.com`, { browser })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 5);
});

test('requests of an address are limited by the minute, before anything is read', async () => {
  const limited = await startHttpService({
    database: service.database,
    signUp: policy,
    signIns: createRateLimiter({ quota: 1, windowMs: 60_000 }),
  });
  try {
    const browser = newBrowser(limited);
    assert.equal((await request('fast@example.com', { browser })).status, 200);
    assert.equal((await request('fast@example.com', { browser })).json.error, 'too_many_sign_ins');
  } finally {
    await limited.close();
  }
});

test('repeated requests for a mailbox create three links an hour, with the same response', async () => {
  for (const email of [
    'rae@example.com',
    'rae+1@example.com',
    'rae@example.com',
    'rae+2@example.com',
    'rae@example.com',
  ]) {
    const { status, json } = await request(email);
    assert.deepEqual([status, json.data], [200, {}]);
  }
  assert.equal((await mailsTo('rae@example.com')).length + (await mailsTo('rae+1@example.com')).length, 3);
  assert.equal((await mailsTo('rae+2@example.com')).length, 0);
});

test('a mailbox signs up once, in any spelling of its address', async () => {
  assert.equal(mailboxOf('r.a.e+news@googlemail.com'), 'rae@gmail.com');
  assert.equal(mailboxOf('r.a.e+news@example.com'), 'r.a.e@example.com');
  assert.equal(mailboxOf('+49123@example.com'), '+49123@example.com');
  const spellings = ['uma@example.com', 'uma+1@example.com'];
  for (const email of spellings) assert.equal((await request(email)).status, 200);
  const tokens = [await tokenTo('uma@example.com'), await tokenTo('uma+1@example.com')];
  const answers = await Promise.all(tokens.map((token) => accept(token)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 404]));
  await request('uma+2@example.com');
  assert.match((await mailsTo('uma+2@example.com'))[0]?.subject ?? '', /^You already have an account/);
});

test('an invited person cannot open a second account with a link from before the invitation', async () => {
  await request('ivo@example.com');
  const token = await tokenTo('ivo@example.com');
  const { accountId } = await service.newAccount(0);
  const email = 'ivo@example.com';
  const invitation = await invitePersonAs(service.database.db, shell, {
    email,
    isOperator: false,
    accountId,
    role: 'viewer',
  });
  assert.equal((await accept(invitation?.token ?? '')).status, 200);
  assert.equal((await accept(token)).json.error, 'link_not_found');
});

test('an operator lists open sign-ups and delivers a new link by hand, which replaces the one before', async () => {
  await request('hanna@example.com');
  const mailed = await tokenTo('hanna@example.com');
  const { json } = await operator.ask('GET', '/api/admin/v1/sign-ups');
  const listed = json.data['signUps'] as { linkId: string; email: string; mail: string }[];
  const found = listed.find(({ email }) => email === 'hanna@example.com');
  assert.equal(found?.mail, 'sent');
  const body = { linkId: found.linkId };
  const made = await operator.ask('POST', '/api/admin/v1/sign-ups/link', { body });
  assert.deepEqual([made.status, made.json.data['isMailed']], [200, false]);
  const token = String(made.json.data['url']).split('#')[1] ?? '';
  assert.equal((await accept(mailed)).json.error, 'link_not_found');
  assert.equal((await accept(token)).status, 200);
  const again = await operator.ask('POST', '/api/admin/v1/sign-ups/link', { body });
  assert.equal(again.json.error, 'sign_up_not_found');
  const reset = { purpose: 'reset', email: 'hanna@example.com', isOperator: false } as const;
  const { linkId } = await createOneTimeLink(service.database.db, reset);
  const other = await operator.ask('POST', '/api/admin/v1/sign-ups/link', { body: { linkId } });
  assert.equal(other.json.error, 'sign_up_not_found', 'a link of another purpose');
  const audit = await operator.ask('GET', '/api/admin/v1/audit?limit=2');
  const actions = (audit.json.data['actions'] as { action: string }[]).map(({ action }) => action);
  assert.deepEqual(actions, ['accounts.sign_up', 'people.sign_up_link']);
});

test('a weak password and an unusable name of the account are refused, and the link stays open', async () => {
  await request('weak@example.com');
  const token = await tokenTo('weak@example.com');
  assert.equal((await accept(token, { password: 'password1234' })).json.error, 'invalid_request');
  assert.equal((await accept(token, { accountName: 'two\nlines' })).json.error, 'invalid_request');
  assert.equal((await accept(token)).status, 200);
});

test('erasing a person deletes their sign-ups and mails, and frees the mailbox, which gets no second start credit', async () => {
  const email = 'erin@example.com';
  await request(email);
  const accepted = await accept(await tokenTo(email));
  const { userId } = accepted.json.data['user'] as { userId: string };
  const [account] = accepted.json.data['accounts'] as { accountId: string }[];
  const accountId = account?.accountId;
  const reason = 'requested by its owner';
  assert.equal(
    (await operator.ask('POST', '/api/admin/v1/accounts/close', { body: { accountId, reason } })).status,
    200,
  );
  assert.equal((await operator.ask('POST', '/api/admin/v1/people/erase', { body: { userId } })).status, 200);
  for (const table of ['one_time_links', 'mails', 'users', 'security_events', 'operator_actions', 'start_credits']) {
    assert.ok(!JSON.stringify(await query(`select * from ${table}`)).includes(email), table);
  }
  await request('erin+2@example.com');
  assert.equal((await accept(await tokenTo('erin+2@example.com'))).status, 200);
  assert.deepEqual(await query('select balance from accounts order by created_at desc limit 1'), [{ balance: 0 }]);
});
