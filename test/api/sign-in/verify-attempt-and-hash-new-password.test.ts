import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import { setUserDisabled } from '../../../src/accounts/people/users.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newPerson } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('a failed sign-in is recorded with its person and origin; one with an unknown e-mail without either name', async () => {
  const { db } = service.database;
  const [person, disabled] = [await newPerson(service), await newPerson(service)];
  await setUserDisabled(db, disabled.userId, true);
  for (const [email, password, who] of [
    [person.email, 'not the password', { userId: person.userId, email: person.email }],
    [disabled.email, goodPassword, { userId: disabled.userId, email: disabled.email }],
    ['unknown@example.com', goodPassword, { userId: undefined, email: undefined }],
  ] as const) {
    const browser = newBrowser(service, undefined, '192.0.2.9');
    const wish = { body: { email, password }, headers: { 'user-agent': 'a browser' } };
    const { status, json } = await browser.ask('POST', '/api/console/v1/sign-in', wish);
    assert.deepEqual([status, json.error], [401, 'sign_in_failed']);
    const [{ eventId: _id, createdAt: _at, ...event } = assert.fail()] = await listAllSecurityEvents(db, { limit: 1 });
    const origin = { address: '192.0.2.9', userAgent: 'a browser' };
    assert.deepEqual(event, {
      kind: 'sign_in_failed',
      ...who,
      accountId: undefined,
      actor: undefined,
      ...origin,
      details: {},
    });
  }
});
