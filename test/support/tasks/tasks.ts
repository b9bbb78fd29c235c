import type { VideoFacts } from '../../../src/media/video/check-and-measure-video.ts';
import type { NewTask, CreatorKeyOrPerson } from '../../../src/tasks/accept/acceptance-contract.ts';
import { requestFingerprint } from '../../../src/tasks/accept/task-terms-and-request-fingerprint.ts';
import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import {
  type AmountsWithPriceName,
  type CataloguePrice,
  type PriceAmounts,
  standardPriceName,
} from '../../../src/catalogue/prices/model-prices.ts';
import { isFinalState, type Task, type TaskParam, type TaskResult } from '../../../src/catalogue/tasks/task.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { listTaskEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { v7 as uuidv7 } from 'uuid';
import { waitFor } from '../wait-for.ts';

/** A validated request; `[[…]]` in the prompt steers the preview provider. */
export function taskParam(prompt: string, input: Partial<TaskParam['input']> = {}, callBackUrl?: string): TaskParam {
  return {
    model: 'videogen-2.0-fast',
    input: { prompt, resolution: '720p', duration: 4, ratio: '16:9', generateAudio: true, imageUrls: [], ...input },
    ...(callBackUrl !== undefined && { callBackUrl }),
  };
}

export const madeUpMeasures: VideoFacts = {
  widthPx: 1280,
  heightPx: 720,
  durationSeconds: 4,
  framesPerSecond: 24,
  hasAudio: true,
  bytes: 1,
  sha256: '0'.repeat(64),
};

export const madeUpResult: TaskResult = { videoKey: 'video', posterKey: 'poster', ...madeUpMeasures };

/** A validated request for a model without an input of its own. */
export function requestOf(param: TaskParam): Pick<NewTask, 'param' | 'requestSha256'> {
  return { param, requestSha256: requestFingerprint(param, standardModelInput) };
}

/** The catalogue's price of the tests, and with its deadline all terms of a model. */
export const listedPrices: readonly AmountsWithPriceName[] = [perSecond(33)];
export const listedTerms = { listedPrices, deadlineMs: 30 * 60_000 };

/** A rate of a price without conditions. */
export function perSecond(creditsPerSecond: number, fromMs = 0): AmountsWithPriceName {
  return { name: standardPriceName, creditsPerSecond, creditsPerVideo: 0, fromMs };
}

/** The prices of a model that costs the same for every input, with these amounts over time. */
export function standardPrice(
  ...amounts: readonly Pick<PriceAmounts, 'creditsPerSecond' | 'fromMs'>[]
): readonly CataloguePrice[] {
  return [{ name: standardPriceName, when: {}, amounts: amounts.map((one) => ({ creditsPerVideo: 0, ...one })) }];
}

/** Accepts a task as createTask does, for 132 credits, without starting its workflow. */
export async function acceptTestTask(
  db: Database,
  accountId: string,
  param: TaskParam,
  by?: CreatorKeyOrPerson,
): Promise<string> {
  const taskId = uuidv7();
  const acceptance = await acceptTaskAlone(db, { taskId, accountId, by, ...requestOf(param), ...listedTerms });
  if (acceptance.kind !== 'accepted') throw new Error(`not accepted: ${acceptance.kind}`);
  return taskId;
}

export function waitForEnd(db: Database, taskId: string, limitMs?: number): Promise<Task> {
  return waitFor(
    `the end of task ${taskId}`,
    async () => {
      const task = await findTask(db, taskId);
      return task !== undefined && isFinalState(task.state) ? task : undefined;
    },
    limitMs,
  );
}

/** The kinds of a task's ledger entries, oldest first. */
export async function entryKinds(db: Database, taskId: string): Promise<readonly string[]> {
  return (await listTaskEntries(db, taskId)).map(({ kind }) => kind);
}
