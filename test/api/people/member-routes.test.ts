import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newMember, type Person } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

type Member = { readonly person: Person; readonly accountId: string };
const post = ({ person, accountId }: Member, what: string, body: object) =>
  person.ask('POST', `/api/console/v1/members/${what}`, { accountId, body });

async function listed({ person, accountId }: Member) {
  const { json } = await person.ask('GET', '/api/console/v1/members', { accountId });
  return json.data as { readonly members: { email: string }[]; readonly invitations: object[] }; // as documented
}

test('200 the first thousand members are listed by their e-mail, and no one else', async () => {
  const [own] = [await newMember(service), await newMember(service)];
  const text = `
with made as (
  insert into users (id, email) select gen_random_uuid(), 'a-' || lpad(n::text, 4, '0') || '@example.com'
  from generate_series(1, 1000) n returning id)
insert into memberships (account_id, user_id, role) select $1, id, 'viewer' from made limit $2`;
  await service.database.db.run({ name: 'test-many-members', text }, [own.accountId, 999]);
  const emails = (await listed(own)).members.map(({ email }) => email);
  assert.deepEqual(emails, emails.toSorted());
  assert.deepEqual([emails.length, emails.at(-1)], [1_000, own.person.email]);
  const more = `
insert into memberships (account_id, user_id, role)
select $1, id, 'viewer' from users where email like 'a-%' and id not in (select user_id from memberships)`;
  await service.database.db.run({ name: 'test-one-more-member', text: more }, [own.accountId]);
  assert.equal((await listed(own)).members.length, 1_000);
});

test('200 an invitation is listed and withdrawn in its account alone; without a mail server its owner gets the link', async () => {
  const [own, other] = [await newMember(service), await newMember(service)];
  const { json } = await post(own, 'invite', { email: ' New@Example.com', role: 'member' });
  const { linkId, url, isMailed, expireTime } = json.data;
  assert.equal(isMailed, false);
  assert.match(String(url), /\/console\/\S*#\S{43}$/);
  const invitation = { linkId, email: 'new@example.com', role: 'member', expireTime };
  assert.deepEqual((await listed(own)).invitations, [invitation]);
  assert.deepEqual((await listed(other)).invitations, []);
  for (const id of ['x', randomUUID()])
    assert.equal((await post(own, 'withdraw', { linkId: id })).json.error, 'link_not_found');
  assert.equal((await post(other, 'withdraw', { linkId })).json.error, 'link_not_found');
  assert.deepEqual((await listed(own)).invitations, [invitation]);
  assert.deepEqual((await post(own, 'withdraw', { linkId })).json.data, { linkId });
  assert.deepEqual((await listed(own)).invitations, []);
});

test('404 a person who is not a member; 200 with who was changed', async () => {
  const [own, other] = [await newMember(service), await newMember(service)];
  for (const userId of ['x', randomUUID(), other.person.userId]) {
    assert.equal((await post(own, 'role', { userId, role: 'viewer' })).json.error, 'member_not_found');
    assert.equal((await post(own, 'remove', { userId })).json.error, 'member_not_found');
  }
  const { userId } = other.person;
  const join = `insert into memberships (account_id, user_id, role) values ($1, $2, 'member')`;
  await service.database.db.run({ name: 'test-join', text: join }, [own.accountId, userId]);
  const changed = await post(own, 'role', { userId, role: 'viewer' });
  assert.deepEqual(changed.json.data, { userId, role: 'viewer' });
  assert.equal(changed.headers['set-cookie'], undefined, 'the caller keeps their cookie');
  assert.deepEqual((await post(own, 'remove', { userId })).json.data, { userId });
  assert.equal((await listed(own)).members.length, 1);
});
