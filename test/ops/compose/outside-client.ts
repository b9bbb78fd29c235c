import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, createTask, recordInfo, resultUrlsIn } from '../../support/service/call-api.ts';
import { waitFor } from '../../support/wait-for.ts';

// A client of an installation in containers, whose requests may meet outages.

/** A task of a busy machine waits for others. */
const taskLimitMs = 10 * 60_000;

/** Creates a task as a client does that repeats a request after an outage. */
export async function acceptedTask(api: Api, prompt = 'a lighthouse in a storm'): Promise<string> {
  const headers = { 'idempotency-key': randomUUID() };
  const request = { model: 'videogen-2.0-fast', input: { prompt, duration: 4 } };
  return waitFor('the acceptance of a task', async () => {
    const answer = await createTask(api, request, headers).catch(() => undefined);
    if (answer?.status === 200) return String(answer.body.data['taskId']);
    assert.ok(answer === undefined || answer.status >= 500, `${answer?.status} ${answer?.body.msg}`);
    return delay(500, undefined);
  });
}

/** The record of a task once its state is one of these. */
export function taskIn(api: Api, taskId: string, states: readonly string[]) {
  return waitFor(
    `task ${taskId} to be ${states.join(' or ')}`,
    async () => {
      const answer = await recordInfo(api, taskId).catch(() => undefined);
      const { data } = answer?.body ?? {};
      if (answer?.status === 200 && states.includes(String(data?.['state']))) return data;
      // An account's reads have a rate.
      return delay(300, undefined);
    },
    taskLimitMs,
  );
}

/** Waits for the success of a task, and downloads its video. */
export async function assertVideo(api: Api, taskId: string): Promise<void> {
  const record = await taskIn(api, taskId, ['success', 'fail']);
  assert.equal(record['state'], 'success', JSON.stringify(record));
  const video = await fetch(resultUrlsIn(record)[0] ?? assert.fail('no link'));
  assert.deepEqual([video.status, video.headers.get('content-type')], [200, 'video/mp4']);
  assert.ok((await video.arrayBuffer()).byteLength > 100_000);
}
