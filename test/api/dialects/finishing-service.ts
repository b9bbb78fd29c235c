import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { fakeVideoPath } from '../../fakes/restartable-server.ts';
import { startLosingProxy } from '../../support/proxies/lose-first-response-proxy.ts';
import { createFolderStore } from '../../support/folder-store.ts';
import { startHttpService } from '../../support/service/http-service.ts';
import { madeUpMeasures } from '../../support/tasks/tasks.ts';
import { allowManyTasks } from '../../support/service/repeat-merging.ts';

/** A service behind a proxy that can lose responses. Each task ends as soon as it is accepted, with a stored video. */
export async function startFinishingService() {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-finished-'));
  const proxy = await startLosingProxy();
  const { url: publicUrl } = proxy;
  const resultStore = createFolderStore(folder, { publicUrl });
  const endings: Promise<unknown>[] = [];
  const service = await startHttpService({
    publicUrl,
    resultStore,
    startTask: ({ taskId }) => void endings.push(finish(taskId)),
  });
  const { db } = service.database;
  proxy.forwardTo(service.url);

  async function finish(taskId: string): Promise<void> {
    const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
    await resultStore.put(videoKey, fakeVideoPath);
    await completeTask(db, taskId, { ...madeUpMeasures, videoKey, posterKey });
  }

  return {
    proxy,
    service,
    publicUrl,
    video: await readFile(fakeVideoPath),
    /** An account that may have this many unfinished tasks. */
    newAccount: async (credits: number) => {
      const account = await service.newAccount(credits);
      await allowManyTasks(db, account.accountId);
      return account;
    },
    booksOf: async (accountId: string) => {
      const text = 'select count(*)::int as tasks from tasks where account_id = $1';
      const [row] = await db.run<{ tasks: number }>({ name: 'test-count-tasks', text }, [accountId]);
      return { tasks: row?.tasks, balance: (await findAccount(db, accountId))?.balance };
    },
    close: async () => {
      const failed = (await Promise.allSettled(endings)).filter(({ status }) => status === 'rejected');
      await proxy.close();
      await service.close();
      await rm(folder, { recursive: true });
      assert.deepEqual(failed, []);
    },
  };
}

export type FinishingService = Awaited<ReturnType<typeof startFinishingService>>;
