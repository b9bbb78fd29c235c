import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { auditLedger } from '../../../../src/credits/ledger/ledger-audit.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/test-database.ts';
import type { Answer } from '../../../support/service/http-client.ts';
import { type HttpService, type HttpServiceOptions, startHttpService } from '../../../support/service/http-service.ts';

/** Gives the services of one test file a common database, because API processes share their rates there. */
export function useDatabase() {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(async () => {
    const violations = await auditLedger(database.db);
    await database.close();
    assert.deepEqual(violations, []);
  });

  async function withService(options: HttpServiceOptions, work: (service: HttpService) => Promise<void>) {
    const service = await startHttpService({ database, ...options });
    try {
      await work(service);
    } finally {
      await service.close();
    }
  }

  return { database: () => database, withService };
}

export function retryAfterMs({ headers }: Answer): number {
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  return Number(headers['retry-after']) * 1000;
}
