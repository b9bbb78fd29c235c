import { setTimeout as delay } from 'node:timers/promises';
import { adapterOf } from '../ingress/dialect.ts';
import { callbackTimeoutMs, noTaskId } from './callback.ts';
import type { Dialect } from '../accounts/api-key.ts';
import type { ModelCatalogue } from '../models/model.ts';
import { noLinks, taskRecord } from '../tasks/task-record.ts';
import { withDefaults } from '../tasks/task-input.ts';
import type { Task } from '../tasks/task.ts';
import type { Log } from '../platform/log.ts';
import { createGuardedClient } from '../outbound/client.ts';
import type { SecretBox } from '../outbound/secrets.ts';
import { createCallbackPoster } from '../outbound/webhook.ts';
import type { Database } from '../platform/database/database.ts';
import { callbackSecretsOf } from './account-secrets.ts';
import { ownEndpoints, type Settings } from '../config/settings.ts';

type Deps = {
  readonly settings: Settings;
  readonly db: Database;
  readonly box: SecretBox;
  readonly log: Log;
  readonly models: () => ModelCatalogue;
};

/** Sends test callbacks, about a task that does not exist, signed and sent like real ones. */
export function createTestCallbacks({ settings, db, box, log, models }: Deps) {
  const client = createGuardedClient({
    allow: settings.callbackAllow,
    own: ownEndpoints(settings),
    maxPerHost: 8,
    maxWaitingPerHost: 0,
  });
  const post = createCallbackPoster({
    client,
    onUnreachable: ({ error }) => log.info({ kind: error.kind, detail: error.detail }, 'test receiver unreachable'),
    dialectHeaders: ({ dialect, ...callback }) =>
      adapterOf(dialect === 'kie' ? dialect : 'native').callbackHeaders(callback),
  });
  return {
    /**
     * Returns the receiver's status; undefined if it is unreachable, always after the longest time an attempt may take. Otherwise a
     * client could distinguish rejected addresses from slow ones and map our network.
     */
    send: async ({ accountId, url, dialect }: TestCallback): Promise<number | undefined> => {
      const { status, startedAt } = await post({
        taskId: noTaskId,
        accountId,
        url,
        dialect,
        body: () => Promise.resolve(sampleBody(dialect, models())),
        secrets: () => callbackSecretsOf(db, box, accountId),
        signal: AbortSignal.timeout(2 * callbackTimeoutMs),
      });
      if (status === undefined) await delay(startedAt + callbackTimeoutMs - Date.now());
      return status;
    },
    close: () => client.close(),
  };
}

type TestCallback = { readonly accountId: string; readonly url: string; readonly dialect: Dialect };

function sampleBody(dialect: Dialect, models: ModelCatalogue): string {
  const [model = ''] = models.keys();
  const now = Date.now();
  const task: Task = {
    taskId: noTaskId,
    accountId: noTaskId,
    param: { model, input: withDefaults({ prompt: 'A test of your receiver. This task does not exist.' }) },
    state: 'success',
    priceName: 'standard',
    creditsCharged: 0,
    creditsRefunded: 0,
    failure: undefined,
    result: undefined,
    mediaDeletedAt: undefined,
    createdAt: now,
    updatedAt: now,
    generationStartedAt: now,
    completedAt: now,
  };
  return adapterOf(dialect).callbackBody(taskRecord(task, 100, noLinks), models);
}
