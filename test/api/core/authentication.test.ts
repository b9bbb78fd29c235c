import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateApiKey } from '../../../src/accounts/keys/key-format.ts';
import { createKeyUnchecked, revokeApiKey } from '../../../src/accounts/keys/keys.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
let account: { accountId: string; key: string };
before(async () => {
  service = await startHttpService();
  account = await service.newAccount(100_000);
});
after(() => service.close());

function ask(authorization: string | undefined): Promise<Answer> {
  const headers = authorization === undefined ? {} : { authorization };
  return service.send('GET', '/api/v1/jobs/recordInfo?taskId=x', { headers });
}

async function newKey(expiresAt?: number): Promise<{ keyId: string; key: string }> {
  const created = await createKeyUnchecked(service.database.db, {
    accountId: account.accountId,
    name: 'test',
    scopes: ['tasks:read'],
    expiresAt,
  });
  assert.ok(created);
  return created;
}

const past = 1_000;

for (const [name, header] of [
  ['no header', () => undefined],
  ['an empty header', () => ''],
  ['the scheme alone', () => 'Bearer'],
  ['another scheme', () => 'Basic eDp5'],
  ['a key that could not be ours', () => 'Bearer sk-123'],
  ['a key with a typo', () => `Bearer ${account.key.slice(0, -1)}`],
  ['a key that was never made', () => `Bearer ${generateApiKey()}`],
  ['two keys', () => `Bearer ${account.key} ${account.key}`],
  ['a key in quotes', () => `Bearer "${account.key}"`],
  ['a very long key', () => `Bearer ${'a'.repeat(10_000)}`],
  ['a key in other letters', () => `Bearer ${account.key.toUpperCase()}`],
  ['an SQL quote', () => "Bearer ' or 1=1 --"],
] as const) {
  test(`401 ${name}: the one answer that all of them get`, async () => {
    const answer = await ask(header());
    assertRefused(answer, 401, /^a valid API key is required/);
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
    assert.equal(answer.bytes.toString(), (await ask(undefined)).bytes.toString());
  });
}

for (const [name, headers, msg] of [
  ['a bare key', () => ({ authorization: account.key }), /^the API key was sent without the scheme Bearer; /],
  ['a key in another scheme', () => ({ authorization: `Token ${account.key}` }), /without the scheme Bearer; /],
  ['a bare key that was never made', () => ({ authorization: generateApiKey() }), /without the scheme Bearer; /],
  ["a bare operator's key", () => ({ authorization: generateApiKey('operator') }), /without the scheme Bearer; /],
  ['X-API-Key', () => ({ 'x-api-key': account.key }), /^the API key was sent as X-API-Key; /],
] as const) {
  test(`401 ${name} does not count, and the refusal names the right header`, async () => {
    for (const path of ['/api/v1/jobs/recordInfo?taskId=x', '/api/admin/v1/accounts']) {
      const answer = await service.send('GET', path, { headers: headers() });
      assertRefused(answer, 401, msg);
      assert.match(answer.json.msg, /; send it as Authorization: Bearer <API_KEY>$/);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
    const created = await service.send('POST', '/api/v1/jobs/createTask', {
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify(plainRequest),
    });
    assertRefused(created, 401, msg);
  });
}

test('401 a header X-API-Key beside Authorization, which counts, is not named', async () => {
  for (const authorization of ['Basic eDp5', `Bearer ${generateApiKey()}`]) {
    const headers = { authorization, 'x-api-key': account.key };
    const answer = await service.send('GET', '/api/v1/jobs/recordInfo?taskId=x', { headers });
    assertRefused(answer, 401, /^a valid API key is required/);
  }
});

test('401 an expired key gets the very same answer', async () => {
  const { key } = await newKey(past);
  assert.equal((await ask(`Bearer ${key}`)).bytes.toString(), (await ask(undefined)).bytes.toString());
});

test('401 a key that was revoked, from the next request on', async () => {
  const { keyId, key } = await newKey();
  assert.equal((await ask(`Bearer ${key}`)).status, 404);
  await revokeApiKey(service.database.db, keyId);
  const refused = await ask(`Bearer ${key}`);
  assertRefused(refused, 401, /^a valid API key/);
  assert.equal(refused.bytes.toString(), (await ask(undefined)).bytes.toString());
});

for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) {
  test(`404 the scheme is taken in any case: "${scheme}"`, async () => {
    assert.equal((await ask(`${scheme} ${account.key}`)).status, 404);
  });
}

test('401 comes before a look at the body, so a stranger cannot make the service read one', async () => {
  for (const body of ['{', 'x'.repeat(300_000)]) {
    assertRefused(await service.create('nobody', body), 401, /valid API key/);
  }
});

test('401 a key in the query or in the body does not count', async () => {
  const path = `/api/v1/jobs/recordInfo?taskId=x&access_token=${account.key}`;
  assertRefused(await service.send('GET', path), 401, /valid API key/);
  assertRefused(await service.create('nobody', { ...plainRequest, access_token: account.key }), 401, /valid API key/);
});
