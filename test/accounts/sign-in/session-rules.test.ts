import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { endpoints } from '../../../src/api/endpoints.ts';
import { isCookieExposed } from '../../../src/api/sign-in/session-and-oidc-visit-cookies.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { type Browser, goodPassword, newBrowser, newMember, newPerson, signIn } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const me = (browser: Browser, headers = {}) => browser.ask('GET', '/api/console/v1/me', { headers });

function assertSignedOut(answer: Answer): void {
  assert.deepEqual([answer.status, answer.json.error], [401, 'not_signed_in']);
  assert.match(String(answer.headers['set-cookie']), /^videogen_\d+=; .*Max-Age=0/);
}

const age = (text: string, values: readonly unknown[]) =>
  service.database.db.run({ name: `test-age-${text.length}-${randomBytes(3).toString('hex')}`, text }, values);

test('rule 1: only the SHA-256 of a secret of 256 random bits is stored; every invalid cookie gets the same 401 and is cleared', async () => {
  const { userId, ...person } = await newPerson(service);
  const [name = '', token = ''] = String(person.cookie()).split('=');
  assert.equal(Buffer.from(token, 'base64url').length, 32);
  const rows = await service.database.db.run({ name: 'test-sessions', text: 'select * from sessions' });
  assert.ok(rows.length > 0);
  assert.ok(!JSON.stringify(rows).includes(token));
  const malformed = [`${name}=`, `${name}=x`, `${name}=${'a'.repeat(5000)}`, `${name}=' or 1=1 --`];
  const unknown = `${name}=${randomBytes(32).toString('base64url')}`;
  const twice = `${name}=${token}; ${name}=${token}`;
  const answers: Answer[] = [];
  for (const cookie of [...malformed, unknown, twice]) answers.push(await me(newBrowser(service, cookie)));
  await age(`update sessions set expires_at = now() where user_id = $1`, [userId]);
  answers.push(await me(newBrowser(service, person.cookie())));
  for (const answer of answers) assertSignedOut(answer);
  assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1);
});

test('rule 2: sign-in, authentication, a new password and a new role replace the secret', async () => {
  const { accountId, person } = await newMember(service);
  const other = await newPerson(service, { roles: { [accountId]: 'owner' } });
  const change = async (work: () => Promise<Answer>) => {
    const old = String(person.cookie());
    const { status, json } = await work();
    assert.equal(status, 200, json.msg);
    assert.notEqual(person.cookie(), old);
    assert.equal((await me(person)).status, 200);
    assertSignedOut(await me(newBrowser(service, old)));
  };
  await change(() => signIn(person, person.email));
  await change(() => person.ask('POST', '/api/console/v1/reauthenticate', { body: { password: goodPassword } }));
  const passwords = { currentPassword: goodPassword, newPassword: 'another long password' };
  await change(() => person.ask('POST', '/api/console/v1/password', { body: passwords }));
  const demotion = { userId: person.userId, role: 'member' };
  await change(() => person.ask('POST', '/api/console/v1/members/role', { accountId, body: demotion }));
  const promotion = { userId: person.userId, role: 'owner' };
  const promoted = await other.ask('POST', '/api/console/v1/members/role', { accountId, body: promotion });
  assert.equal(promoted.status, 200, promoted.json.msg);
  assertSignedOut(await me(person));
});

test('rule 3: a session ends 12 hours after its last use and 7 days after its start, an operator’s after 1 and 12 hours', async () => {
  for (const [isOperator, idleHours, absoluteHours] of [
    [false, 12, 7 * 24],
    [true, 1, 12],
  ] as const) {
    const person = await newPerson(service, { isOperator });
    const { session } = (await me(person)).json.data as { session: { expireTime: number; authTime: number } };
    assert.ok(Math.abs(session.expireTime - session.authTime - absoluteHours * 3_600_000) < 5_000);
    const used = (minutes: number) =>
      age(`update sessions set last_used_at = now() - $2 * interval '1 minute' where user_id = $1`, [
        person.userId,
        minutes,
      ]);
    await used(idleHours * 60 - 1);
    assert.equal((await me(person)).status, 200);
    await used(idleHours * 60);
    assertSignedOut(await me(person));
    const again = newBrowser(service);
    await signIn(again, person.email);
    await age(`update sessions set expires_at = now() where user_id = $1`, [person.userId]);
    assertSignedOut(await me(again));
  }
});

test('rule 3: background requests do not keep a session alive, and their 401 clears no cookie', async () => {
  const person = await newPerson(service);
  await age(`update sessions set last_used_at = now() - interval '11 hours' where user_id = $1`, [person.userId]);
  const lastUse = async () => {
    const text = 'select last_used_at > now() - $2 * interval $3 as "isNew" from sessions where user_id = $1';
    const named = { name: 'test-last-use', text: text.replace('$3', `'1 hour'`) };
    return (await service.database.db.run<{ isNew: boolean }>(named, [person.userId, 1]))[0]?.isNew;
  };
  await me(person, { 'videogen-background': '1' });
  assert.equal(await lastUse(), false);
  await me(person);
  assert.equal(await lastUse(), true);
  const ended = newBrowser(service, `${String(person.cookie())}x`);
  const answer = await me(ended, { 'videogen-background': '1' });
  assert.deepEqual([answer.status, answer.headers['set-cookie']], [401, undefined]);
});

test('rule 4: the cookie is __Host-, Secure, HttpOnly and Lax behind https; over plain http its name holds the port', async () => {
  const { database } = service;
  const publicUrl = 'https://video.example.com';
  const secure = await startHttpService({ database, console: { ...service.deps.console, publicUrl } });
  try {
    const { email } = await newPerson(service);
    const headers = { host: 'video.example.com' };
    const body = { email, password: goodPassword };
    const answer = await newBrowser(secure).ask('POST', '/api/console/v1/sign-in', { body, headers });
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    assert.match(cookie, /^__Host-videogen=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/);
    const sinceMs = Date.now();
    const plain = await signIn(newBrowser(service), email);
    const { session } = plain.json.data as { session: { expireTime: number } };
    const [, seconds] = /Max-Age=(\d+)/.exec(String(plain.headers['set-cookie'])) ?? [];
    const endsMs = session.expireTime - Number(seconds) * 1000;
    assert.ok(endsMs >= sinceMs && endsMs < Date.now() + 1000, 'the cookie ends with the session');
    const port = new URL(service.url).port;
    const [named = ''] = plain.headers['set-cookie'] ?? [];
    assert.match(named, new RegExp(`^videogen_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Lax; Max-Age=\\d+$`));
  } finally {
    await secure.close();
  }
  const exposed = ['http://192.168.0.7:3000', 'http://video.lan', 'http://127.example.com'].map(isCookieExposed);
  const safe = [publicUrl, 'http://127.0.0.1:3000', 'http://localhost', 'http://[::1]:3000'].map(isCookieExposed);
  assert.deepEqual([...exposed, ...safe], [true, true, true, false, false, false, false]);
});

test('rule 5: sign-out deletes the session; people list and end their own, and operators those of any person', async () => {
  const first = await newPerson(service);
  const second = newBrowser(service);
  const third = newBrowser(service);
  await signIn(second, first.email);
  await signIn(third, first.email);
  type Listed = { sessions: { sessionId: string; isCurrent: boolean }[] };
  const list = async (browser: Browser) =>
    ((await browser.ask('GET', '/api/console/v1/sessions')).json.data as unknown as Listed).sessions;
  assert.deepEqual((await list(first)).map(({ isCurrent }) => isCurrent).filter(Boolean), [true]);
  const secondId = (await list(second)).find(({ isCurrent }) => isCurrent)?.sessionId;
  const end = (sessionId: unknown) => first.ask('POST', '/api/console/v1/sessions/end', { body: { sessionId } });
  assert.equal((await end(secondId)).status, 200);
  assert.equal((await end(secondId)).json.error, 'session_not_found');
  assert.equal((await end('x')).json.error, 'session_not_found');
  assertSignedOut(await me(second));
  const others = await first.ask('POST', '/api/console/v1/sessions/end-others');
  assert.equal(others.json.data['ended'], 1);
  assertSignedOut(await me(third));
  const stranger = await newPerson(service);
  const strangers = (await list(stranger))[0]?.sessionId;
  assert.equal((await end(strangers)).json.error, 'session_not_found', 'another person’s is not found');
  const out = await stranger.ask('POST', '/api/console/v1/sign-out');
  assert.match(String(out.headers['set-cookie']), /Max-Age=0/);
  const text = 'select from sessions where id = $1';
  assert.deepEqual(await service.database.db.run({ name: 'test-session', text }, [strangers]), []);
  const operator = await newPerson(service, { isOperator: true });
  const body = { userId: first.userId };
  assert.equal((await operator.ask('POST', '/api/admin/v1/people/end-sessions', { body })).status, 200);
  assertSignedOut(await me(first));
});

test('rule 6: disabling a person, or removing them from an account, takes effect with the next request', async () => {
  const { accountId, person } = await newMember(service);
  const member = await newPerson(service, { roles: { [accountId]: 'member' } });
  const operator = await newPerson(service, { isOperator: true });
  await newPerson(service, { isOperator: true });
  const credits = () => member.ask('GET', '/api/v1/credits', { accountId });
  assert.equal((await credits()).status, 200);
  const remove = { accountId, body: { userId: member.userId } };
  assert.equal((await person.ask('POST', '/api/console/v1/members/remove', remove)).status, 200);
  assert.equal((await credits()).json.error, 'account_not_found');
  const disable = (which: 'disable' | 'enable', userId: string) =>
    operator.ask('POST', `/api/admin/v1/people/${which}`, { body: { userId } });
  assert.equal((await disable('disable', member.userId)).status, 200);
  assert.equal((await credits()).json.error, 'not_signed_in');
  assert.equal((await signIn(newBrowser(service), member.email)).json.error, 'sign_in_failed');
  assert.equal((await disable('enable', member.userId)).status, 200);
  assert.equal((await signIn(newBrowser(service), member.email)).status, 200);
});

test('rule 9: with Authorization the cookie is ignored, and a key never opens the console’s own endpoints', async () => {
  const { accountId, person } = await newMember(service);
  const { key } = await service.newAccount(77);
  const both = { authorization: `Bearer ${key}` };
  const mixed = await person.ask('GET', '/api/v1/credits', { accountId, headers: both });
  assert.equal(mixed.json.data['balance'], 77, 'the key’s account, not the one that the page names');
  const bad = await person.ask('GET', '/api/v1/credits', { accountId, headers: { authorization: 'Bearer nothing' } });
  assert.equal(bad.json.error, 'unauthorized');
  for (const path of ['/api/console/v1/me', '/api/console/v1/sessions', '/api/console/v1/members']) {
    const answer = await person.ask('GET', path, { accountId, headers: both });
    assert.equal(answer.json.error, 'not_signed_in', path);
  }
});

test('a person needs an authentication of the last ten minutes to add people and to create keys with extra scopes', async () => {
  const { accountId, person } = await newMember(service);
  const post = (path: string, body: unknown) => person.ask('POST', path, { accountId, body });
  const makeKey = (scopes: readonly string[]) => post('/api/v1/keys', { name: 'k', scopes });
  await age(`update sessions set authenticated_at = now() - interval '10 minutes' where user_id = $1`, [person.userId]);
  const acts: readonly (() => Promise<Answer>)[] = [
    () => makeKey(['keys:write']),
    () => makeKey(['tasks:read', 'callbacks:secret']),
    () => makeKey(['content:delete']),
    () => post('/api/console/v1/members/invite', { email: 'new@example.com', role: 'viewer' }),
  ];
  for (const act of acts) assert.equal((await act()).json.error, 'reauthentication_required');
  assert.equal((await makeKey(['tasks:read'])).status, 200);
  const authenticate = (password: string) => post('/api/console/v1/reauthenticate', { password });
  assert.equal((await authenticate('not the password')).json.error, 'sign_in_failed');
  assert.equal((await authenticate(goodPassword)).status, 200);
  for (const act of acts) assert.equal((await act()).status, 200);
});

/** Each of these refuses an older authentication: test/api/outcomes.test.ts. */
const sensitive = `
adminAdjustCredits adminCloseAccount adminCreateAccount adminCreateCodes adminCreateKey adminCreateSignUpLink adminDeleteTask
adminDisablePerson adminEnablePerson adminEndSessions adminErasePerson adminGrantCredits adminInvitePerson adminResetPassword
adminSetOperator adminSetPrice adminWithdrawInvitation closeAccount createKey exportAccount inviteMember
passkeyRegistrationOptions removeEventEndpoint removeMember removePasskey rotateCallbackSecret rotateEventSecret rotateKey
setEventEndpoint setMemberRole showCallbackSecret showEventSecret`;

test('endpoints that move money, show a secret, delete data or change access require a recent authentication', () => {
  const guarded = endpoints.filter(({ failures }) => failures.includes('reauthentication_required'));
  assert.deepEqual(guarded.map(({ operationId }) => operationId).toSorted(), sensitive.trim().split(/\s+/));
});
