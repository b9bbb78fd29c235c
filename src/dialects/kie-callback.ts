import { createHmac } from 'node:crypto';
import type { ModelCatalogue } from '../domain/models.ts';
import type { TaskRecord } from '../domain/task-record.ts';
import type { SignedCallback } from './dialect.ts';
import { presentKieTask } from './kie-record.ts';

/** The text of a callback: the record under code 200, or under 501 when the task has failed. */
export function kieCallbackBody(record: TaskRecord, models: ModelCatalogue): string {
  const data = presentKieTask(record, models);
  if (record.state !== 'fail') return JSON.stringify({ code: 200, msg: 'success', data });
  return JSON.stringify({ code: 501, msg: data.failMsg, data: { ...data, resultJson: null } });
}

/**
 * The signature that the dialect's clients verify. It covers task and time only and says nothing about the body; ours
 * beside it does. The key is the account's callback secret as it is shown, `whsec_` included: those clients hash with
 * the text in their settings.
 */
export function kieCallbackHeaders({ taskId, timestampSeconds, secrets }: SignedCallback) {
  // There is room for one signature, so after a rotation it is the new secret's at once.
  const [current] = secrets;
  if (current === undefined) throw new Error('a callback needs a secret');
  const signature = createHmac('sha256', current).update(`${taskId}.${timestampSeconds}`).digest('base64');
  return { 'x-webhook-timestamp': String(timestampSeconds), 'x-webhook-signature': signature };
}
