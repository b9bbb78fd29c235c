import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, type TestContext, test } from 'node:test';
import timers from 'node:timers/promises';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { refundAfterRestore } from '../../../src/run/embedded/refund-after-restore.ts';
import {
  createInstallation,
  type Installation,
  model,
  openingCredits,
} from '../../support/service/test-installation.ts';
import { entryKinds } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

let installation: Installation;
before(async () => {
  installation = await createInstallation();
});
after(() => installation.close());

/** Runs `during` instead of the pauses between passes, which no one else's timer with this signal is. */
function insteadOfPauses(t: TestContext, signal: AbortSignal, during: (pause: number) => Promise<void>): void {
  const { setTimeout: real } = timers;
  let pauses = 0;
  const timer = t.mock.method(
    timers,
    'setTimeout',
    (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) =>
      options?.signal === signal ? during((pauses += 1)) : real(ms, value, options),
  );
  syncBuiltinESMExports();
  t.after(() => {
    timer.mock.restore();
    syncBuiltinESMExports();
  });
}

test('passes follow until one finds nothing; each task is refunded once, and the message has the sums of all', async (t) => {
  const { accountId, db, settings, accept, start } = installation;
  const taskIds = [await accept(), await accept()];
  const { signal } = new AbortController();
  let pauses = 0;
  insteadOfPauses(t, signal, async (pause) => {
    pauses = pause;
    // A pass that found nothing, and the next one does: Temporal lists a workflow some time after its start.
    if (pause === 1) await startListed(randomUUID());
    if (pause === 2) {
      taskIds.push(await start());
      await startListed(randomUUID());
    }
  });
  const said: string[] = [];
  await refundAfterRestore(settings, (message) => void said.push(message), signal);
  assert.deepEqual(said, ['Restored: 3 unfinished tasks refunded, 2 outdated workflows terminated.']);
  assert.equal(pauses, 3, 'the fourth pass found nothing');
  for (const taskId of taskIds) assert.deepEqual(await entryKinds(db, taskId), ['charge', 'refund']);
  const account = await findAccount(db, accountId);
  assert.deepEqual([account?.balance, account?.unfinishedTasks], [openingCredits, 0]);
});

test('a second pass follows a first one that found nothing', async (t) => {
  const { settings } = installation;
  const { signal } = new AbortController();
  let pauses = 0;
  insteadOfPauses(t, signal, async (pause) => void (pauses = pause));
  await refundAfterRestore(settings, () => undefined, signal);
  assert.equal(pauses, 1);
});

/** Starts the workflow of a task that the database does not have, and waits until it is listed. */
async function startListed(taskId: string): Promise<void> {
  const { accountId, client, engine } = installation;
  await engine.startTask({ taskId, accountId, model });
  await waitFor('the workflow to be listed', async () => {
    const { count } = await client.workflow.count(`WorkflowId = '${taskId}' AND ExecutionStatus = 'Running'`);
    return count > 0 ? true : undefined;
  });
}
