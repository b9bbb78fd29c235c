import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createOneTimeLink } from '../../../src/accounts/sign-in/one-time-links.ts';
import type { SignUpPolicy } from '../../../src/credits/sign-up/request-sign-up.ts';
import { closedSignUp, type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newBrowser, newPerson } from '../../support/service/person.ts';

const policy: SignUpPolicy = { ...closedSignUp };
let service: HttpService;
let accountId: string;
before(async () => {
  service = await startHttpService({ signUp: policy });
  ({ accountId } = await service.newAccount(0));
});
after(() => service.close());

const post = (path: string, body: object) => newBrowser(service).ask('POST', `/api/console/v1/${path}`, { body });

type Known = 'unknown' | 'user' | 'disabled';

/** An e-mail address of this kind of person. */
async function emailOf(who: Known): Promise<string> {
  if (who === 'unknown') return `${randomBytes(6).toString('hex')}@example.com`;
  const { email, userId } = await newPerson(service);
  const disable = { name: 'test-disable', text: 'update users set disabled_at = now() where id = $1' };
  if (who === 'disabled') await service.database.db.run(disable, [userId]);
  return email;
}

const request = { address: '192.0.2.1', mailboxHash: randomBytes(32), codeHash: undefined, isRegistered: false };

for (const [purpose, mode, found] of [
  ['invite', 'off', { unknown: true, user: true, disabled: false }],
  ['reset', 'off', { unknown: false, user: true, disabled: false }],
  ['confirm', 'open', { unknown: true, user: false, disabled: false }],
  ['confirm', 'off', { unknown: false, user: false, disabled: false }],
] as const) {
  for (const who of ['unknown', 'user', 'disabled'] as const) {
    const isFound = found[who];
    test(`${isFound ? 200 : 404} a link to ${purpose} ${who}, while sign-up is ${mode}`, async () => {
      Object.assign(policy, { mode });
      const email = await emailOf(who);
      const ofAccount = purpose === 'invite' ? ({ accountId, role: 'member' } as const) : {};
      const link = { purpose, email, isOperator: false, ...ofAccount, ...(purpose === 'confirm' && { request }) };
      const { token, expiresAt: expireTime } = await createOneTimeLink(service.database.db, link);
      const { json } = await post('links/show', { token });
      const account =
        purpose === 'invite' ? { accountName: 'test', role: 'member' } : { accountName: null, role: null };
      if (isFound) assert.deepEqual(json.data, { purpose, email, ...account, userExists: who === 'user', expireTime });
      else assert.equal(json.error, 'link_not_found');
    });
  }
}

test('the first operator is set up by a link that names no one and needs an e-mail, until there is an operator', async () => {
  const { token, expiresAt: expireTime } = await createOneTimeLink(service.database.db, {
    purpose: 'setup',
    isOperator: true,
  });
  const needsSetUp = async () =>
    (await newBrowser(service).ask('GET', '/api/console/v1/options')).json.data['needsSetUp'];
  assert.equal(await needsSetUp(), true);
  const noPerson = { email: null, accountName: null, role: null, userExists: false };
  assert.deepEqual((await post('links/show', { token })).json.data, { purpose: 'setup', ...noPerson, expireTime });
  const password = 'a long enough password';
  for (const email of [undefined, null]) {
    const { status, json } = await post('links/accept', { token, password, email });
    assert.equal(status, 422);
    assert.deepEqual(json.data, { errors: [{ path: 'email', message: 'is required' }] });
  }
  const accepted = await post('links/accept', { token, password, email: ' First@Example.com ' });
  assert.equal((accepted.json.data['user'] as { email: string }).email, 'first@example.com');
  assert.equal(await needsSetUp(), false);
  for (const path of ['links/show', 'links/accept'])
    assert.equal(
      (await post(path, { token, ...(path.endsWith('accept') && { password }) })).json.error,
      'link_not_found',
    );
});
