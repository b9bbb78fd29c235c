import type { VideoFacts } from '../../../src/media/video/check-and-measure-video.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { type DeliveryAttempt, findDelivery, listDeliveryAttempts } from '../../../src/tasks/callbacks/deliveries.ts';
import type { CallbackSender } from '../../../src/tasks/callbacks/post-callback.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { acceptTestTask, taskParam } from './tasks.ts';
import { waitFor } from '../wait-for.ts';

const result: VideoFacts = {
  widthPx: 1280,
  heightPx: 720,
  durationSeconds: 4,
  framesPerSecond: 24,
  hasAudio: true,
  bytes: 1,
  sha256: 'f'.repeat(64),
};

/** A task that ended without a generation, whose callback is owed and not started. */
export async function owedCallback(
  db: Database,
  accountId: string,
  url: string,
  state: 'success' | 'fail' = 'fail',
  beforeEnd: (taskId: string) => Promise<unknown> = async () => {},
): Promise<{ readonly taskId: string; readonly deliveryId: string; readonly accountId: string }> {
  const taskId = await acceptTestTask(db, accountId, taskParam('never made', {}, url));
  await beforeEnd(taskId);
  if (state === 'fail') await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
  else {
    const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
    await completeTask(db, taskId, { ...result, videoKey, posterKey });
  }
  return { taskId, deliveryId: taskId, accountId };
}

/** Has a slot for every attempt. */
export function unlimitedSender(post: CallbackSender['post']): CallbackSender {
  return { post, inSlot: (_receiver, _signal, attempt) => attempt() };
}

/** Waits for the first attempts at a callback and answers them, oldest first. */
export function waitForAttempts(db: Database, taskId: string, count = 1): Promise<readonly DeliveryAttempt[]> {
  return waitFor(`${count} attempts at the callback of ${taskId}`, async () => {
    const attempts = await listDeliveryAttempts(db, taskId);
    return attempts.length >= count ? attempts.toReversed() : undefined;
  });
}

/** Waits until a delivery is in a state. */
export async function waitForDelivery(db: Database, taskId: string, state: string): Promise<void> {
  await waitFor(`callback of ${taskId} ${state}`, async () =>
    (await findDelivery(db, taskId))?.state === state ? true : undefined,
  );
}
