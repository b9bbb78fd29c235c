import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addressAndUserAgentOf } from '../../../src/api/sign-in/authenticate-session.ts';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';
import { ensureSigningSecrets } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, newMember } from '../../support/service/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('an account id in capital letters names the same account: its rotated callback secret can be decrypted', async () => {
  const { accountId, person } = await newMember(service);
  const rotate = { accountId: accountId.toUpperCase(), body: { overlapSeconds: 60 } };
  const { status, json } = await person.ask('POST', '/api/v1/callbacks/secret/rotate', rotate);
  assert.equal(status, 200, json.msg);
  const box = createSecretBox('s'.repeat(32));
  assert.deepEqual(await ensureSigningSecrets(service.database.db, box, accountId), [json.data['secret']]);
});

test('a read with the cookie from before a renewal is refused and clears no cookie', async () => {
  const { accountId, person } = await newMember(service);
  const old = person.cookie();
  const proof = { body: { password: goodPassword } };
  assert.equal((await person.ask('POST', '/api/console/v1/reauthenticate', proof)).status, 200);
  for (const path of ['/api/v1/credits', '/api/v1/jobs/listTasks', '/api/console/v1/sessions']) {
    const { status, headers } = await newBrowser(service, old).ask('GET', path, { accountId });
    assert.deepEqual([status, headers['set-cookie']], [401, undefined], path);
  }
  for (const [method, path] of [
    ['GET', '/api/console/v1/me'],
    ['POST', '/api/console/v1/sessions/end-others'],
  ] as const) {
    const { status, headers } = await newBrowser(service, old).ask(method, path);
    assert.equal(status, 401);
    assert.match(String(headers['set-cookie']), /Max-Age=0/, path);
  }
});

test('the browser of a request is recorded in plain ASCII, cut off after 300 characters', () => {
  const originOf = (userAgent: string) => {
    const state = { clientAddress: () => '192.0.2.1' };
    // The parts of a context that the function reads.
    return addressAndUserAgentOf({
      state,
      get: (name: string) => (name === 'User-Agent' ? userAgent : ''),
    } as unknown as Context);
  };
  for (const [sent, recorded] of [
    ['', ''],
    ['Firefox/140 ~', 'Firefox/140 ~'],
    ['a\tb\x7fc\u00e4d\u202ee', 'abcde'],
    ['x'.repeat(301), 'x'.repeat(300)],
    [`\u00e4${'x'.repeat(300)}`, 'x'.repeat(300)],
  ] as const)
    assert.deepEqual(originOf(sent), { address: '192.0.2.1', userAgent: recorded });
});
