import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRateLimiter } from '../../../src/http/limits/rate-limits.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { assertRefused } from '../../support/http-client.ts';
import {
  type HttpService,
  type HttpServiceOptions,
  plainRequest,
  startHttpService,
} from '../../support/http-service.ts';
import { newPerson } from '../../support/person.ts';

// Nobody uses up what others need, signed in or not.

const hour = 3_600_000;
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

async function withService(options: HttpServiceOptions, work: (service: HttpService) => Promise<void>): Promise<void> {
  const service = await startHttpService({ database, ...options });
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

test('429 creates of a person that are refused are counted for that person: keys and other members create on', async () => {
  const refusedCreates = createRateLimiter({ quota: 2, windowMs: hour });
  await withService({ refusedCreates }, async (service) => {
    const { accountId, key } = await service.newAccount(10_000);
    const viewer = await newPerson(service, { roles: { [accountId]: 'viewer' } });
    const member = await newPerson(service, { roles: { [accountId]: 'member' } });
    const create = (person = viewer) =>
      person.ask('POST', '/api/v1/jobs/createTask', { accountId, body: plainRequest });
    for (const _ of [1, 2]) assertRefused(await create(), 403, /your role/);
    assertRefused(await create(), 429, /too many of your creates were refused/);
    assert.equal((await service.create(key, plainRequest)).status, 200);
    assert.equal((await create(member)).status, 200);
    for (const _ of [1, 2]) assert.equal((await service.create(key, {})).status, 422);
    assertRefused(await service.create(key, plainRequest), 429, /too many creates of this account were refused/);
    assert.equal((await create(member)).status, 200);
  });
});
