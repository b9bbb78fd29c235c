import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { externalSettings } from '../../src/main/settings.ts';
import { startApi } from '../../src/main/start-api.ts';
import { startWorker } from '../../src/main/start-worker.ts';
import { findAccount } from '../../src/stores/accounts.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listPools, setProviderSwitchAs } from '../../src/stores/provider-pools.ts';
import type { Fault, FaultName } from '../fakes/fault-proxy.ts';
import { kinds } from '../fakes/kinds.ts';
import { createTask } from '../support/api.ts';
import { assertPaidOnce, firstOf, mayStayUnknown, namedFaults } from '../support/fault-verdicts.ts';
import { type Seat, startKindService } from '../support/kind-service.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// From createTask to the upstream's books, with the real engine and its pauses: the call for the job meets a fault of the network. Every
// fault with every kind of provider is in every-request.test.ts, without the engine; here each fault meets a quarter of the kinds, and
// each kind a quarter of the faults.

const credits = 1_000;
const share = 4;
const operator = { kind: 'command_line', name: 'test' } as const;

type Played = { readonly seat: Seat; readonly faultName: FaultName; readonly fault: Fault };

test('a task that was created over HTTP is made once or refunded, whatever its call for a job meets', async () => {
  const environment = await createTestEnvironment();
  const { db } = environment.database;
  const pairs = [...kinds].flatMap(([kindName, kind], kindIndex) =>
    namedFaults
      .filter((_, index) => (kindIndex + index) % share === 0)
      // A call that is held has no limit but the deadline.
      .filter(([, { reply }]) => kind.endsAlone !== true || reply !== 'never')
      .filter(() => (kind.skip ?? false) === false)
      .map(([faultName, fault]) => ({ kindName, kind, isAlone: fault.restarts === true, faultName, fault })),
  );
  const service = await startKindService(environment, pairs, { submitSeconds: 10 });
  const settings = externalSettings(readConfig({ ...environment.environment, ...service.variables }));
  const log = createLog({ level: 'silent' });
  const fail = (error: unknown) => {
    throw error;
  };
  const worker = await startWorker(settings, log, fail);
  await worker.running;
  const api = await startApi(settings, log);
  try {
    const played = pairs.map(({ faultName, fault }, index): Played => {
      const seat = service.seats[index];
      assert.ok(seat);
      return { seat, faultName, fault };
    });
    const told = played.map((one) =>
      tell(one).catch((cause: unknown) => {
        throw new Error(`${one.seat.kindName}: a create that ${one.faultName}`, { cause });
      }),
    );
    // All of them come to their end, also beside one that fails.
    const ends = await Promise.allSettled(told);
    const failed = ends.flatMap((end): readonly unknown[] => (end.status === 'rejected' ? [end.reason] : []));
    assert.deepEqual(failed, []);
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await api.close();
    await worker.close();
    await service.close();
    await environment.close();
  }

  async function tell({ seat, faultName, fault }: Played): Promise<void> {
    const { kind, name, prompt, proxy, upstream } = seat;
    const { accountId, key } = await createTestAccount(environment.database, credits);
    await proxy.play(fault, firstOf(kind.isCreate));
    seat.mayEnd = true;
    const { status, body } = await createTask(
      { baseUrl: settings.publicUrl, key },
      { model: name, input: { prompt, duration: 4 } },
    );
    assert.equal(status, 200, JSON.stringify(body));
    const taskId = String(body.data['taskId']);
    const charged = Number(body.data['creditsCharged']);
    // An upstream that was not there comes back, and what only an operator can mend is mended.
    if (fault.reply === 'refused') void delay(4_000).then(() => proxy.heal());
    const ending = waitForEnd(db, taskId, 240_000);
    if (faultName === 'gets 401' || faultName === 'gets a redirect') await mend(name);
    const task = await ending;
    await proxy.release();
    const mayFail = mayStayUnknown(kind, faultName);
    if (!mayFail) assert.equal(task.state, 'success', JSON.stringify(task.failure));
    if (task.state === 'fail') assert.equal(task.failure?.failCode, 'provider_unavailable');
    const entries = (await listTaskEntries(db, taskId)).map((entry) => entry.kind);
    assert.deepEqual(entries, task.state === 'fail' ? ['charge', 'refund'] : ['charge']);
    const spent = task.state === 'fail' ? 0 : charged;
    assert.equal((await findAccount(db, accountId))?.balance, credits - spent);
    assertPaidOnce(kind, await upstream.books.jobsFor(prompt), fault);
  }

  async function mend(provider: string): Promise<void> {
    await waitFor('the cooldown of a provider', async () => {
      const pools = await listPools(db);
      return pools.some((pool) => pool.provider === provider && pool.coolingReason === 'operator') ? true : undefined;
    });
    await setProviderSwitchAs(db, operator, { provider, state: 'enabled', reason: 'its key is right now' });
  }
});
