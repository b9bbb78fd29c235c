import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newMember } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const nameOf = async (accountId: string) => (await findAccount(service.database.db, accountId))?.name;

/** A person with this role in one account, who owns another one. */
async function withTwoAccounts(role: 'owner' | 'member' | 'viewer') {
  const [own, other] = [await newMember(service, role), await newMember(service)];
  await setMembership(service.database.db, other.accountId, own.person.userId, 'owner');
  return { ...own, otherId: other.accountId };
}

test('200 an owner renames the account of the request, and no other one of theirs', async () => {
  const { accountId, otherId, person } = await withTwoAccounts('owner');
  const { status, json } = await person.ask('POST', '/api/console/v1/account/rename', {
    accountId,
    body: { name: ' Harbor ' },
  });
  assert.deepEqual([status, json.data['accountId']], [200, accountId]);
  assert.deepEqual([json.data['name'], await nameOf(otherId)], [await nameOf(accountId), 'test']);
  assert.equal(String(await nameOf(accountId)).trim(), 'Harbor');
});

test('200 an owner closes the account whose id they repeat, and no other one of theirs', async () => {
  const { accountId, otherId, person } = await withTwoAccounts('owner');
  const close = (id: string) =>
    person.ask('POST', '/api/console/v1/account/close', { accountId, body: { accountId: id } });
  const refused = await close(otherId);
  const errors = refused.json.data['errors'] as { readonly path: string }[]; // the documented shape
  assert.deepEqual([refused.status, errors.map(({ path }) => path)], [422, ['accountId']]);
  const closedAt = async (id: string) => (await findAccount(service.database.db, id))?.closedAt;
  assert.deepEqual([await closedAt(accountId), await closedAt(otherId)], [undefined, undefined]);
  const { status, json } = await close(accountId);
  assert.deepEqual([status, json.data], [200, { accountId }]);
  assert.equal(typeof (await closedAt(accountId)), 'number');
  assert.equal(await closedAt(otherId), undefined);
});

test('403 members and viewers neither rename nor export nor close the account', async () => {
  for (const role of ['member', 'viewer'] as const) {
    const { accountId, person } = await withTwoAccounts(role);
    const path = '/api/console/v1/account';
    for (const { status } of [
      await person.ask('POST', `${path}/rename`, { accountId, body: { name: 'mine' } }),
      await person.ask('GET', `${path}/export`, { accountId }),
      await person.ask('POST', `${path}/close`, { accountId, body: { accountId } }),
    ])
      assert.equal(status, 403, role);
    assert.equal(await nameOf(accountId), 'test');
  }
});

test('an export and a closure need a recent authentication, a new name does not', async () => {
  const { accountId, person } = await newMember(service);
  const text = `update sessions set authenticated_at = now() - interval '1 day' where id = $1`;
  await service.database.db.run({ name: 'test-age-session', text }, [person.sessionId]);
  const path = '/api/console/v1/account';
  for (const { status, json } of [
    await person.ask('GET', `${path}/export`, { accountId }),
    await person.ask('POST', `${path}/close`, { accountId, body: { accountId } }),
  ])
    assert.deepEqual([status, json.error], [403, 'reauthentication_required']);
  assert.equal((await person.ask('POST', `${path}/rename`, { accountId, body: { name: 'b' } })).status, 200);
});
