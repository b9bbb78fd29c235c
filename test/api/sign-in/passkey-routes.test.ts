import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import { softwareAuthenticator } from '../../support/console/software-authenticator.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newBrowser, newPerson } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService({
    console: {
      // Passkeys belong to a name, never to an address of numbers.
      get publicUrl() {
        return service.url.replace('127.0.0.1', 'localhost');
      },
      passwordSignIn: true,
    },
  });
});
after(() => service.close());

test('a passkey is made for its person, replaces the session that it finds, and what it does or fails to do is recorded', async () => {
  const [person, other] = [await newPerson(service), await newPerson(service)];
  const { userId, email } = person;
  const browser = newBrowser(service, person.cookie(), '192.0.2.9');
  const ask = async (what: string, body: unknown = {}) => {
    const wish = { body, headers: { 'user-agent': 'a browser' } };
    return (await browser.ask('POST', `/api/console/v1/passkeys/${what}`, wish)).json;
  };
  const lastEvent = async () => {
    const [{ eventId: _id, createdAt: _at, ...event } = assert.fail()] = await listAllSecurityEvents(
      service.database.db,
      { limit: 1 },
    );
    return event;
  };
  const event = (kind: string, details: object) => {
    const by = { userId, email, accountId: undefined, actor: undefined };
    return { kind, ...by, address: '192.0.2.9', userAgent: 'a browser', details };
  };
  const mine = softwareAuthenticator(service.deps.console.publicUrl);
  const { data: options } = await ask('register-options');
  assert.deepEqual(options['rp'], { name: 'Videogen', id: 'localhost' });
  assert.equal((options['user'] as { readonly name: string }).name, email);
  const made = mine.create(options);
  assert.equal((await ask('register', { name: 'laptop', response: made })).code, 200);
  assert.deepEqual(await lastEvent(), event('passkey_added', { name: 'laptop' }));
  // Signed with another key.
  const strange = softwareAuthenticator(service.deps.console.publicUrl);
  strange.create((await ask('register-options')).data);
  const { data: proofOptions } = await ask('sign-in-options');
  const proof = mine.get(proofOptions);
  const forged = {
    ...proof,
    response: { ...proof.response, signature: strange.get(proofOptions).response['signature'] },
  };
  assert.equal((await ask('sign-in', { response: forged })).error, 'sign_in_failed');
  assert.deepEqual(await lastEvent(), event('sign_in_failed', { means: 'passkey' }));
  const response = mine.get((await ask('sign-in-options')).data);
  const { data } = await ask('sign-in', { response });
  assert.deepEqual(data['user'], { userId, email, isOperator: false });
  assert.deepEqual(await lastEvent(), event('signed_in', { means: 'passkey' }));
  const statusOf = async ({ ask: get }: Pick<typeof browser, 'ask'>) => (await get('GET', '/api/console/v1/me')).status;
  assert.deepEqual([await statusOf(browser), await statusOf(person), await statusOf(other)], [200, 401, 200]);
});
