import type { CallbackFormat } from './callback-format-type.ts';
import type { ModelCatalogue } from '../../catalogue/models/model.ts';
import { taskRecord } from '../public-record.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import { signResultLinks } from '../../media/store/signed-link.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import type { CallbackToPost } from './post-callback.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { readDatabaseTime } from '../../platform/database/database-clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Delivery, findDelivery } from './deliveries.ts';
import { eventBody } from './account-event.ts';
import { findTask } from '../task-rows.ts';
import { ensureSigningSecrets } from './signing-secrets.ts';

/** A callback or event that is owed; its body, secrets and time are read when it is sent. */
export type OwedDelivery = Pick<Delivery, 'state' | 'redeliveries'> & Omit<CallbackToPost, 'signal'>;

export type OwedDeliveryDeps = {
  readonly db: Database;
  readonly box: SecretBox;
  readonly media: Pick<ResultStore, 'link'>;
  readonly models: () => ModelCatalogue;
  /** The form of a dialect's callbacks. */
  readonly callbackFormatOf: (dialect: string) => CallbackFormat;
};

/** Finds a callback or an event that is owed. Returns undefined if none is: while the task runs, without `callBackUrl`, or for a closed account. */
export async function findOwedDelivery(deps: OwedDeliveryDeps, deliveryId: string): Promise<OwedDelivery | undefined> {
  const { db, box } = deps;
  const delivery = await findDelivery(db, deliveryId);
  if (delivery === undefined) return undefined;
  const { accountId, taskId, event } = delivery;
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  if ((await findAccount(db, accountId))?.closedAt !== undefined) return undefined;
  const owed = { ...delivery, format: deps.callbackFormatOf(delivery.dialect) };
  const prepare = async () => {
    const secrets = await ensureSigningSecrets(db, box, accountId, event === undefined ? 'callback' : 'event');
    const body = bodyOf(deps, owed, task);
    return { body, secrets, signedAt: (await readDatabaseTime(db)).now };
  };
  return { ...owed, prepare };
}

/** Its links are signed anew for each attempt. */
function bodyOf(
  { media, models }: OwedDeliveryDeps,
  { deliveryId, event, createdAt, details, format }: Delivery & { readonly format: CallbackFormat },
  task: Task | undefined,
): string {
  const record = task && taskRecord(task, 0, signResultLinks(media, task));
  if (event !== undefined) return eventBody({ deliveryId, event, createdAt, details }, record);
  if (record === undefined) throw new Error(`the callback ${deliveryId} has no task`);
  return format.callbackBody(record, models());
}
