import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newMember, type Person, signIn } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

/** Another browser of this person. */
async function another({ email }: Person, password = goodPassword) {
  const browser = newBrowser(service);
  const answer = await signIn(browser, email, password);
  assert.equal(answer.status, 200, answer.bytes.toString());
  const { sessionId } = answer.json.data['session'] as { readonly sessionId: string }; // the documented shape
  return { ...browser, sessionId };
}

const post = ({ ask }: Pick<Person, 'ask'>, path: string, body: object = {}) =>
  ask('POST', `/api/console/v1/${path}`, { body });
const sessionsOf = async ({ ask }: Pick<Person, 'ask'>) => {
  const { json } = await ask('GET', '/api/console/v1/sessions');
  return json.data['sessions'] as { readonly sessionId: string; readonly isCurrent: boolean }[]; // the documented shape
};
const isSignedIn = async ({ ask }: Pick<Person, 'ask'>) => (await ask('GET', '/api/console/v1/me')).status === 200;

test('200 a person lists the sessions of their own, with all that is known of each', async () => {
  const { person } = await newMember(service);
  const second = await another(person);
  const other = await newMember(service);
  const text = `
update sessions set created_at = to_timestamp(1), last_used_at = date_trunc('day', now()) + '1 day', address = '192.0.2.7',
  user_agent = 'a browser', expires_at = to_timestamp(4000000000)
where id = $1
returning (extract(epoch from last_used_at) * 1000)::bigint as "usedAt"`;
  const [row] = await service.database.db.run<{ usedAt: number }>({ name: 'test-session', text }, [second.sessionId]);
  const usedAt = Number(row?.usedAt);
  const [first, ...others] = await sessionsOf(person);
  assert.deepEqual(first, {
    sessionId: second.sessionId,
    isCurrent: false,
    createTime: 1_000,
    lastUseTime: usedAt,
    expireTime: usedAt + 12 * 3_600_000,
    address: '192.0.2.7',
    userAgent: 'a browser',
  });
  assert.deepEqual(
    others.map(({ sessionId, isCurrent }) => [sessionId, isCurrent]),
    [[person.sessionId, true]],
  );
  assert.deepEqual(
    (await sessionsOf(second)).map(({ isCurrent }) => isCurrent),
    [true, false],
  );
  assert.deepEqual(
    (await sessionsOf(other.person)).map(({ sessionId }) => sessionId),
    [other.person.sessionId],
  );
});

test('200 a person ends a session of their own; that of someone else is not found', async () => {
  const { person } = await newMember(service);
  const second = await another(person);
  const other = await newMember(service);
  for (const sessionId of ['x', randomUUID(), other.person.sessionId])
    assert.equal((await post(person, 'sessions/end', { sessionId })).json.error, 'session_not_found', sessionId);
  const ended = await post(person, 'sessions/end', { sessionId: second.sessionId });
  assert.deepEqual([ended.status, ended.json.data], [200, { sessionId: second.sessionId }]);
  const all = [person, second, other.person];
  assert.deepEqual(await Promise.all(all.map(isSignedIn)), [true, false, true]);
});

test('200 a person ends all of their other sessions, and no one else’s', async () => {
  const { person } = await newMember(service);
  const [second, third] = [await another(person), await another(person)];
  const other = await newMember(service);
  assert.deepEqual((await post(person, 'sessions/end-others')).json.data, { ended: 2 });
  const all = [person, second, third, other.person];
  assert.deepEqual(await Promise.all(all.map(isSignedIn)), [true, false, false, true]);
  assert.deepEqual((await post(person, 'sessions/end-others')).json.data, { ended: 0 });
});

test('200 a new password ends the other sessions, replaces the cookie, and is the one to sign in with', async () => {
  const { accountId, person } = await newMember(service, 'viewer');
  const second = await another(person);
  const other = await newMember(service);
  const newPassword = 'a new correct horse';
  const earlier = person.cookie();
  const body = { currentPassword: goodPassword, newPassword };
  const { status, json, headers } = await post(person, 'password', body);
  assert.equal(status, 200, json.msg);
  const { userId, email, sessionId } = person;
  const { session, ...me } = json.data as { readonly session: Readonly<Record<string, unknown>> }; // the documented shape
  assert.deepEqual(me, {
    user: { userId, email, isOperator: false },
    accounts: [{ accountId, name: 'test', role: 'viewer', suspension: null }],
    view: null,
    announcement: null,
  });
  assert.equal(session['sessionId'], sessionId);
  assert.equal(headers['set-cookie']?.length, 1);
  assert.notEqual(person.cookie(), earlier);
  assert.deepEqual(await Promise.all([person, second, other.person].map(isSignedIn)), [true, false, true]);
  assert.equal(await isSignedIn(newBrowser(service, earlier)), false);
  assert.equal((await signIn(newBrowser(service), email)).json.error, 'sign_in_failed');
  await another(person, newPassword);
  await another(other.person);
});

test('a wrong current password and a weak new one change nothing, and the weak field is named', async () => {
  const { person } = await newMember(service);
  const wrong = { currentPassword: 'a new correct horse', newPassword: goodPassword };
  assert.equal((await post(person, 'password', wrong)).json.error, 'sign_in_failed');
  for (const newPassword of ['short', person.email]) {
    const { status, json } = await post(person, 'password', { currentPassword: goodPassword, newPassword });
    const errors = json.data['errors'] as { readonly path: string }[]; // the documented shape
    assert.deepEqual([status, errors.map(({ path }) => path)], [422, ['newPassword']]);
  }
  await another(person);
});
