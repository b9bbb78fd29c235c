import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { defaultConnectionQueueLimits } from '../../../src/platform/database/connection-queue-limits.ts';
import {
  createDatabase,
  type Database,
  type DatabaseOptions,
  type DatabasePool,
} from '../../../src/platform/database/database.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { createTaskAcceptor } from '../../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, patientDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { countRequests } from '../../support/servers/node-server-limits.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(async () => {
  assert.deepEqual(await auditLedger(database.db), []);
  await database.close();
});

const price = 165;
/** No create is refused because the machine is slow. */
const patience = { waitMs: 180_000 };

/** A service with a connection pool of its own. */
async function withPool(
  options: Omit<DatabaseOptions, 'url'>,
  work: (service: HttpService, db: DatabasePool) => Promise<void>,
): Promise<void> {
  const db = createDatabase({ url: database.url, ...patientDatabase, ...options });
  const acceptCreate = createTaskAcceptor(db, { ...defaultConnectionQueueLimits, ...options.queue });
  const service = await startHttpService({ database, db, acceptCreate });
  try {
    await work(service, db);
  } finally {
    await service.close();
    await db.close();
  }
}

/** Keeps one connection until `release` is called. */
async function holdConnection(db: Database): Promise<{ readonly release: () => Promise<void> }> {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let transaction: Promise<void> = Promise.resolve();
  await new Promise<void>((begun) => {
    transaction = db.transaction(async (run) => {
      await run({ name: 'test-hold', text: 'select 1' });
      begun();
      await held;
    });
  });
  return {
    release: () => {
      letGo();
      return transaction;
    },
  };
}

test('200 creates that find every connection in use wait for one: all of 200 of 20 accounts are accepted', async () => {
  await withPool({ poolSize: 4, queue: patience }, async (service, db) => {
    const accounts = await Promise.all(Array.from({ length: 20 }, () => service.newAccount(10 * price)));
    const held = await Promise.all(Array.from({ length: 4 }, () => holdConnection(db)));
    using arrived = countRequests();
    const creates = accounts.flatMap(({ key }) => Array.from({ length: 10 }, () => service.create(key, plainRequest)));
    await waitFor('all of them', () => (arrived.count() === 200 && db.usage().waiting > 0 ? true : undefined));
    for (const { release } of held) await release();
    const answers = await Promise.all(creates);
    const refused = answers.filter(({ status }) => status !== 200).map(({ json }) => json.msg);
    assert.deepEqual(refused, []);
    for (const { accountId } of accounts) assert.equal((await findAccount(database.db, accountId))?.balance, 0);
  });
});

test('503 with Retry-After when too many wait for a connection already; those refused are not charged, the others accepted', async () => {
  await withPool({ poolSize: 1, queue: { maxWaiting: 2, ...patience } }, async (service, db) => {
    const { accountId, key } = await service.newAccount(100 * price);
    const { release } = await holdConnection(db);
    const statuses: number[] = [];
    const creates = Array.from({ length: 12 }, async () => {
      const answer = await service.create(key, plainRequest);
      statuses.push(answer.status);
      return answer;
    });
    // Each look for a key that comes in a turn of its own waits for a connection of its own.
    const more = waitFor('one that is refused', async () => {
      if (statuses.includes(503)) return true;
      creates.push(service.create(key, plainRequest).then((answer) => (statuses.push(answer.status), answer)));
      return undefined;
    });
    await more;
    await release();
    const answers = await Promise.all(creates);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assertRefused(answer, 503, /too many requests are waiting for the database; nothing was charged/);
      assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
    }
    const accepted = answers.filter(({ status }) => status === 200).length;
    assert.ok(accepted > 0);
    assert.equal((await findAccount(database.db, accountId))?.balance, (100 - accepted) * price);
  });
});

test('503 with Retry-After for a create that finds no connection in time, and nothing is charged for it later', async (t) => {
  await withPool({ poolSize: 1, queue: patience }, async (service, db) => {
    const { accountId, key } = await service.newAccount(10 * price);
    const { release } = await holdConnection(db);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const create = service.create(key, plainRequest);
    await untilTurn('it to wait', () => db.usage().waiting > 0);
    t.mock.timers.tick(patience.waitMs);
    const refused = await create;
    t.mock.timers.reset();
    assertRefused(refused, 503, /nothing was charged/);
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
    await release();
    assert.equal((await service.create(key, plainRequest)).status, 200);
    assert.equal((await findAccount(database.db, accountId))?.balance, 9 * price);
  });
});
