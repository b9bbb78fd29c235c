import { after, before, beforeEach } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { intendReservedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { startCooldown } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { type Admission, reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

export const provider = 'upstream';
export type Waiter = { readonly taskId: string; readonly accountId: string };

/** A database for the file and a new pool for each test, with the steps of a task that requests a slot. */
export function poolStage() {
  let database: TestDatabase;
  let pools = 0;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => {
    pools += 1;
  });
  after(() => database.close());
  const stage = {
    get db() {
      return database.db;
    },
    get pool() {
      return `${provider}/model-${pools}`;
    },
    run: (text: string, values: unknown[] = []) => database.db.run({ name: 'test', text, plannedAnew: true }, values),
    newAccount: () => createAccount(database.db, { name: 'a', credits: 1_000_000 }),
    newTask: async (accountId: string): Promise<Waiter> => ({
      accountId,
      taskId: await acceptTestTask(database.db, accountId, taskParam('waits')),
    }),
    reserve: ({ taskId, accountId }: Waiter, limit: number, ordinal = 1): Promise<Admission> =>
      reserveSlot(database.db, { taskId, accountId, ordinal, pool: stage.pool, provider, limit }),
    kindOf: async (admission: Promise<Admission>) => (await admission).kind,
    intend: async ({ taskId }: Waiter, ordinal = 1) => {
      const config = { configHash: 'a'.repeat(64), config: '{}' };
      return (await intendReservedJob(database.db, { taskId, ordinal, pool: stage.pool, ...config })) !== undefined;
    },
    fail: (reason: 'busy' | 'operator' = 'busy') => {
      const cooldown = { baseMs: 3_600_000, maxMs: 60 * 3_600_000, isOfProvider: reason === 'operator' };
      return startCooldown(database.db, { pool: stage.pool, provider, reason, ...cooldown });
    },
    endCooling: () =>
      stage.run(`update provider_pools set cooling_until = now() - interval '1 ms' where pool = $1`, [stage.pool]),
  };
  return stage;
}
