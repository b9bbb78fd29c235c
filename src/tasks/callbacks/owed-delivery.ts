import type { CallbackFormat } from './callback-format-type.ts';
import type { ModelCatalogue } from '../../catalogue/models/model.ts';
import { taskRecord } from '../public-record.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import { resultLinks } from '../../media/store/signed-link.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import type { CallbackPost } from './post-callback.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { readClock } from '../../platform/database/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Delivery, findDelivery } from './deliveries.ts';
import { eventBody } from './account-event.ts';
import { findTask } from '../task-rows.ts';
import { ensureSigningSecrets } from './signing-secrets.ts';

/** A callback or event that is owed; its body and secrets are read when it is sent. */
export type OwedDelivery = Pick<Delivery, 'state' | 'redeliveries'> & Omit<CallbackPost, 'signal'>;

export type OwedDeliveryDeps = {
  readonly models: () => ModelCatalogue;
  readonly formatOf: (dialect: string) => Pick<CallbackFormat, 'callbackBody'>;
};

/** Finds a callback or an event that is owed. A closed account is owed none. Links are signed, and secrets read, for each attempt. */
export function createOwedDeliveryFinder(
  db: Database,
  box: SecretBox,
  store: ResultStore,
  { models, formatOf }: OwedDeliveryDeps,
): (deliveryId: string) => Promise<OwedDelivery | undefined> {
  const dataOf = (task: Task) => taskRecord(task, 0, resultLinks(store, task));
  return async (deliveryId) => {
    const delivery = await findDelivery(db, deliveryId);
    if (delivery === undefined) return undefined;
    const { accountId, taskId, event, dialect } = delivery;
    const task = taskId === undefined ? undefined : await findTask(db, taskId);
    if ((await findAccount(db, accountId))?.closedAt !== undefined) return undefined;
    return {
      ...delivery,
      body: async () => {
        if (event !== undefined) return eventBody({ ...delivery, event }, task && dataOf(task));
        if (task === undefined) throw new Error(`the callback ${deliveryId} has no task`);
        return formatOf(dialect).callbackBody(dataOf(task), models());
      },
      readTime: async () => (await readClock(db)).now,
      secrets: () => ensureSigningSecrets(db, box, accountId, event === undefined ? 'callback' : 'event'),
    };
  };
}
