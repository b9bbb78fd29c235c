import { condition, defineQuery, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import type { TextbookActivities } from './textbook-worker.ts';

const { charge, generate, callBack } = proxyActivities<TextbookActivities>({ startToCloseTimeout: '1m' });

export const acceptedUpdate = defineUpdate<{ creditsCharged: number }>('accepted');
export const recordQuery = defineQuery<{ state: string }>('record');

/**
 * The task as Temporal's documentation suggests: the workflow charges, an
 * update answers the client, and a query answers polls.
 */
export async function textbookTask({ taskId, url }: { taskId: string; url: string }): Promise<void> {
  let [isCharged, state] = [false, 'waiting'];
  setHandler(recordQuery, () => ({ state }));
  setHandler(acceptedUpdate, async () => {
    await condition(() => isCharged);
    return { creditsCharged: 165 };
  });
  await charge();
  isCharged = true;
  await generate(taskId);
  state = 'success';
  await callBack({ taskId, url });
}
