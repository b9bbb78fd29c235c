import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { modelInputDeclarationSchema } from '../../../../src/catalogue/input/model-input-declaration-schema.ts';
import { defaultModels, type Model } from '../../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { completeTask } from '../../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import type { Answer } from '../../../support/service/http-client.ts';
import { catalogueOf, type HttpService, startHttpService } from '../../../support/service/http-service.ts';
import { madeUpMeasures } from '../../../support/tasks/tasks.ts';
import { allowManyTasks } from '../../../support/service/repeat-merging.ts';

const [standard] = defaultModels;
assert.ok(standard);
/** Takes every field. */
export const rich: Model = {
  ...standard,
  model: 'rich',
  aliases: ['studio/rich'],
  input: modelInputDeclarationSchema.parse({
    negativePrompt: {},
    resolution: { values: ['720p', '1080p'] },
    duration: { min: 4, max: 15 },
    ratio: { values: ['adaptive', '16:9', '9:16'] },
    generateAudio: { default: false },
    imageUrls: { max: 3 },
    firstFrameUrl: {},
    lastFrameUrl: { requires: 'firstFrameUrl' },
    videoUrls: { max: 1 },
    audioUrls: { max: 1 },
    seed: {},
    options: { cameraFixed: { type: 'boolean' }, style: { type: 'string', values: ['natural', 'anime', '5'] } },
    exclusive: [['imageUrls', 'firstFrameUrl']],
  }),
};
/** Has references, and no frames. */
export const plain: Model = { ...standard, model: 'plain', aliases: [] };

export const least = { model: 'rich', prompt: 'A lighthouse' };

/** Starts a service for one test file, with an account that may have any number of unfinished tasks. */
export function useOpenAI() {
  let service: HttpService;
  let account: { accountId: string; key: string };
  before(async () => {
    const catalogue = catalogueOf([rich, plain]);
    service = await startHttpService({ catalogue: () => catalogue });
    account = await service.newAccount(1_000_000);
    await allowManyTasks(service.database.db, account.accountId);
  });
  after(() => service.close());

  const send = (method: string, path: string, key = account.key) =>
    service.send(method, path, { headers: { authorization: `Bearer ${key}` } });

  function post(body: object, key = account.key): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return service.send('POST', '/v1/videos', { headers, body: JSON.stringify(body) });
  }

  async function postForm(fields: readonly (readonly [name: string, value: string | Blob])[]): Promise<Answer> {
    const form = new FormData();
    for (const [name, value] of fields) form.append(name, value);
    const request = new Request('http://x/', { method: 'POST', body: form });
    const type = request.headers.get('content-type') ?? '';
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': type };
    return service.send('POST', '/v1/videos', { headers, body: Buffer.from(await request.arrayBuffer()) });
  }

  async function inputOf(creating: Promise<Answer>) {
    const task = await findTask(service.database.db, await created(creating));
    assert.ok(task);
    return task.param.input as Record<string, unknown>; // its fields are compared by name
  }

  async function succeed(taskId: string): Promise<void> {
    const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
    await completeTask(service.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
  }

  return { service: () => service, account: () => account, send, post, postForm, inputOf, succeed };
}

export function read({ bytes }: Answer): Record<string, unknown> {
  return JSON.parse(bytes.toString()) as Record<string, unknown>; // every body of this API is an object
}

export async function created(creating: Promise<Answer>): Promise<string> {
  const answer = await creating;
  assert.equal(answer.status, 200, answer.bytes.toString());
  return String(read(answer)['id']);
}

export function assertError(answer: Answer, status: number, param: string | null, message: RegExp): void {
  const { error } = read(answer) as { error: Record<string, unknown> }; // OpenAI's form, which the schema guarantees
  assert.deepEqual([answer.status, error['param']], [status, param], answer.bytes.toString());
  assert.match(String(error['message']), message);
}
