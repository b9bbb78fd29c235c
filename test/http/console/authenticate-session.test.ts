import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callbackSecretsOf } from '../../../src/main/account-secrets.ts';
import { createSecretBox } from '../../../src/outbound/secrets.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { newMember } from '../../support/person.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

test('an account that is named in capital letters is the same one: the callback secret that is rotated there opens', async () => {
  const { accountId, person } = await newMember(service);
  const rotate = { accountId: accountId.toUpperCase(), body: { overlapSeconds: 60 } };
  const { status, json } = await person.ask('POST', '/api/v1/callbacks/secret/rotate', rotate);
  assert.equal(status, 200, json.msg);
  // As the service of the tests seals them.
  const box = createSecretBox('s'.repeat(32));
  assert.deepEqual(await callbackSecretsOf(service.database.db, box, accountId), [json.data['secret']]);
});
