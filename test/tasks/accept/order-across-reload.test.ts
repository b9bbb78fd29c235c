import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';

// The catalogue may be reloaded while the uploads of a request are looked up.

const whole = builtInCatalogue();
const withoutModel = { ...whole, models: new Map([...whole.models].filter(([name]) => name !== plainRequest.model)) };

let catalogue = whole;
let database: TestDatabase;
let service: HttpService;
before(async () => {
  database = await createTestDatabase();
  service = await startHttpService({ database, db: reloading(database.db), catalogue: () => catalogue });
});
after(async () => {
  await service.close();
  await database.close();
});

function reloading(db: Database): Database {
  return {
    ...db,
    run: async (statement, values) => {
      const rows = await db.run<Record<string, never>>(statement, values);
      if (statement.name === 'list-usable-uploads') catalogue = withoutModel;
      return rows as never;
    },
  };
}

async function requestWithUpload(key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'image/png' };
  const body = await plainImage(300, 300).png().toBuffer();
  const { json } = await service.send('POST', '/api/v1/uploads', { headers, body });
  return { ...plainRequest, input: { ...plainRequest.input, imageUrls: [String(json.data['url'])] } };
}

test('200 a request that was valid when it was read is accepted by its terms, although a reload then drops its model', async () => {
  catalogue = whole;
  const { key } = await service.newAccount(1_000);
  const request = await requestWithUpload(key);
  const created = await service.create(key, request);
  assert.deepEqual([created.status, created.json.data['creditsCharged']], [200, 165]);
  assert.equal(catalogue, withoutModel);
  assert.equal((await service.create(key, request)).status, 422, 'the next request is read with the new catalogue');
});

test('200 so is its price', async () => {
  catalogue = whole;
  const { key } = await service.newAccount(0);
  const body = JSON.stringify(await requestWithUpload(key));
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { status, json } = await service.send('POST', '/api/v1/jobs/price', { headers, body });
  assert.deepEqual([status, json.data['credits']], [200, 165]);
  assert.equal(catalogue, withoutModel);
});
