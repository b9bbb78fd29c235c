import type { OwedCallback } from '../../activities/deps.ts';
import type { DialectAdapter } from '../ingress/dialect.ts';
import type { ModelCatalogue } from '../models/model.ts';
import { taskRecord } from '../tasks/task-record.ts';
import type { ResultStore } from '../media/result-store.ts';
import { resultLinks } from '../media/signed-link.ts';
import type { SecretBox } from '../outbound/secrets.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Database } from '../platform/database/database.ts';
import { findDelivery } from './deliveries.ts';
import { findTask } from '../tasks/tasks.ts';
import { callbackSecretsOf } from './account-secrets.ts';

export type OwedCallbackSources = {
  readonly models: () => ModelCatalogue;
  readonly formatOf: (dialect: string) => Pick<DialectAdapter, 'callbackBody'>;
};

/** Finds the callback owed for a task. A closed account is owed none. Links are signed, and secrets read, for each attempt. */
export function createOwedCallbacks(
  db: Database,
  box: SecretBox,
  store: ResultStore,
  { models, formatOf }: OwedCallbackSources,
): (taskId: string) => Promise<OwedCallback | undefined> {
  return async (taskId) => {
    const [delivery, task] = [await findDelivery(db, taskId), await findTask(db, taskId)];
    if (delivery === undefined || task === undefined) return undefined;
    if ((await findAccount(db, delivery.accountId))?.closedAt !== undefined) return undefined;
    return {
      ...delivery,
      body: async () =>
        formatOf(delivery.dialect).callbackBody(taskRecord(task, 0, resultLinks(store, task)), models()),
      secrets: () => callbackSecretsOf(db, box, delivery.accountId),
    };
  };
}
