import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import type { TaskParam } from '../../../src/catalogue/tasks/task.ts';
import type { ErrorCode } from '../../../src/api/core/error-catalogue.ts';
import type { Answer } from '../../support/service/http-client.ts';
import type { HttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';

export type TestVideo = { readonly taskId: string; readonly sha256: string };

/** Stores a finished video whose bytes differ from those of every other one. */
export async function storeVideo(
  { database: { db }, deps }: Pick<HttpService, 'database' | 'deps'>,
  accountId: string,
  prompt: string,
  {
    model,
    input,
    size = 1_000,
    durationSeconds = 4,
  }: { model?: string; input?: Partial<TaskParam['input']>; size?: number; durationSeconds?: number } = {},
): Promise<TestVideo> {
  const param = taskParam(prompt, input);
  const taskId = await acceptTestTask(db, accountId, { ...param, ...(model !== undefined && { model }) });
  const folder = await mkdtemp(join(tmpdir(), 'videogen-gallery-'));
  const bytes = Buffer.alloc(size, taskId);
  const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
  for (const key of [videoKey, posterKey]) {
    await writeFile(join(folder, 'file'), bytes);
    await deps.resultStore.put(key, join(folder, 'file'));
  }
  await rm(folder, { recursive: true });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await completeTask(db, taskId, { ...madeUpMeasures, durationSeconds, bytes: size, sha256, videoKey, posterKey });
  return { taskId, sha256 };
}

const listedVideos = z.array(
  z.object({ taskId: z.string(), prompt: z.string(), favorite: z.boolean(), tags: z.array(z.string()) }),
);

/** Requests of a key, whose data they return. */
export function clientOf(service: HttpService, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const request = (path: string, body?: unknown) =>
    service.send(body === undefined ? 'GET' : 'POST', `/api/v1/gallery/${path}`, {
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const data = async (path: string, body?: unknown) => {
    const answer = await request(path, body);
    assert.equal(answer.status, 200, answer.bytes.toString());
    return answer.json.data;
  };
  const list = async (query = '') => {
    const { videos, nextCursor } = await data(`videos?${query}`);
    const listed = listedVideos.parse(videos);
    return { taskIds: listed.map(({ taskId }) => taskId), videos: listed, nextCursor };
  };
  return { request, data, list };
}

export function assertRefused({ status, json, bytes }: Answer, expected: number, code: ErrorCode): void {
  assert.deepEqual([status, json.error], [expected, code], bytes.toString());
}
