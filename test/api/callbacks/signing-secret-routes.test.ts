import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ordinaryScopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newPerson } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

function post(path: string, body: unknown, key: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}` };
  if (body === undefined) return service.send('POST', `/api/v1/callbacks${path}`, { headers });
  const typed = { ...headers, 'content-type': 'application/json' };
  return service.send('POST', `/api/v1/callbacks${path}`, { headers: typed, body: JSON.stringify(body) });
}

test('403 the secret needs the scope callbacks:secret, which no key has by default', async () => {
  const { key } = await service.newAccount(0, ordinaryScopes);
  assertRefused(await post('/secret', undefined, key), 403, /callbacks:secret/);
  assertRefused(await post('/secret/rotate', {}, key), 403, /callbacks:secret/);
});

test('403 a member cannot reveal or rotate the secret in the console; an owner can', async () => {
  const { accountId } = await service.newAccount(0);
  const request = async (role: 'member' | 'owner', path: string) => {
    const person = await newPerson(service, { roles: { [accountId]: role } });
    return person.ask('POST', `/api/v1/callbacks${path}`, { accountId, body: {} });
  };
  for (const path of ['/secret', '/secret/rotate']) {
    assertRefused(await request('member', path), 403, /your role in this account lacks the scope callbacks:secret/);
    assert.equal((await request('owner', path)).status, 200);
  }
});

test('200 then 409: the secret is shown once, also to two keys of one account', async () => {
  const { key } = await service.newAccount(0, ['callbacks:secret']);
  const first = await post('/secret', undefined, key);
  assert.match(String(first.json.data['secret']), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(first.headers['cache-control'], 'no-store');
  assertRefused(await post('/secret', undefined, key), 409, /already shown/);
});

test('200 a rotation shows the new secret once; the overlap is a day unless chosen', async () => {
  const { key } = await service.newAccount(0, ['callbacks:secret']);
  const first = String((await post('/secret', undefined, key)).json.data['secret']);
  const rotated = (await post('/secret/rotate', {}, key)).json.data;
  assert.match(String(rotated['secret']), /^whsec_/);
  assert.notEqual(rotated['secret'], first);
  assert.equal(rotated['overlapSeconds'], 86_400);
  assertRefused(await post('/secret', undefined, key), 409, /already shown/);
  const again = (await post('/secret/rotate', { overlapSeconds: 0 }, key)).json.data;
  assert.deepEqual([again['overlapSeconds'], again['secret'] === rotated['secret']], [0, false]);
});

for (const overlapSeconds of [-1, 1.5, 2_592_001, '60', null]) {
  test(`422 an overlap of ${JSON.stringify(overlapSeconds)}`, async () => {
    const { key } = await service.newAccount(0, ['callbacks:secret']);
    const answer = await post('/secret/rotate', { overlapSeconds }, key);
    assert.equal(answer.status, 422);
    assert.match(answer.json.msg, /^overlapSeconds: must be a whole number of seconds from 0 to 2592000$/);
  });
}

test('no secret is ever logged', () => {
  assert.ok(service.log.length > 0);
  assert.doesNotMatch(JSON.stringify(service.log), /whsec_/);
});
