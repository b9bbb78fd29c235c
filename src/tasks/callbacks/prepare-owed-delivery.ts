import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { taskRecord } from '../public-record.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import { signVideoAndLastFrameLinks } from '../../media/store/signed-link.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import type { CallbackFormatter, UnsignedCallback } from './post-callback.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { readDatabaseTime } from '../../platform/database/database-clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { type Delivery, findDelivery } from './deliveries.ts';
import { eventBody } from './account-event-types-and-body.ts';
import { findTask } from '../task-rows.ts';
import { ensureSigningSecrets } from './signing-secrets.ts';

export type PrepareDeliveryDeps = {
  readonly db: Database;
  readonly box: SecretBox;
  readonly media: Pick<ResultStore, 'link'>;
  readonly models: () => ModelsByName;
  /** The form of a dialect's callbacks. */
  readonly callbackFormatOf: (dialect: string) => CallbackFormatter;
};

/**
 * Finds a callback or an event that is owed. Returns undefined if none is: while the task runs, without `callBackUrl`, after the delivery
 * has ended, or for a closed account.
 */
export async function findOwedDelivery(db: Database, deliveryId: string): Promise<Delivery | undefined> {
  const delivery = await findDelivery(db, deliveryId);
  if (delivery?.state !== 'pending') return undefined;
  return (await findAccount(db, delivery.accountId))?.closedAt === undefined ? delivery : undefined;
}

/** Reads what an attempt sends: the body as of now, the secrets and the time that sign it, and the format of its headers. */
export async function prepareUnsignedDelivery(
  deps: PrepareDeliveryDeps,
  delivery: Delivery,
): Promise<UnsignedCallback> {
  const { db, box, callbackFormatOf } = deps;
  const { accountId, event, dialect } = delivery;
  const format = callbackFormatOf(dialect);
  const secrets = await ensureSigningSecrets(db, box, accountId, event === undefined ? 'callback' : 'event');
  const body = await bodyOf(deps, delivery, format);
  return { format, body, secrets, signedAt: (await readDatabaseTime(db)).now };
}

/** Its links are signed anew for each attempt. */
async function bodyOf(
  { db, media, models }: PrepareDeliveryDeps,
  { deliveryId, taskId, event, createdAt, details }: Delivery,
  format: CallbackFormatter,
): Promise<string> {
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  const record = task && taskRecord(task, 0, signVideoAndLastFrameLinks(media, task));
  if (event !== undefined) return eventBody({ deliveryId, event, createdAt, details }, record);
  if (record === undefined) throw new Error(`the callback ${deliveryId} has no task`);
  return format.callbackBody(record, models());
}
