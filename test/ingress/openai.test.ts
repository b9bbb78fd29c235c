import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createApiKey } from '../../src/accounts/keys.ts';
import { modelInput } from '../../src/models/catalogue/model-input.ts';
import { defaultModels, type Model } from '../../src/models/model.ts';
import { uploadUrl } from '../../src/media/upload.ts';
import { markMediaDeleted } from '../../src/tasks/task-list.ts';
import { completeTask, findTask, refundTask } from '../../src/tasks/tasks.ts';
import { catalogueOf, type HttpService, startHttpService } from '../support/http-service.ts';
import type { Answer } from '../support/http-client.ts';
import { entryKinds, madeUpMeasures } from '../support/tasks.ts';
import { dataUrl } from './data-url.ts';
import { assertFailure, testCreateFailures } from './shape-failures.ts';

const [standard] = defaultModels;
assert.ok(standard);
/** Takes every field. */
const rich: Model = {
  ...standard,
  model: 'rich',
  aliases: ['studio/rich'],
  input: modelInput.parse({
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
    options: { cameraFixed: { type: 'boolean' }, style: { type: 'string', values: ['natural', 'anime'] } },
    exclusive: [['imageUrls', 'firstFrameUrl']],
  }),
};
/** Has references, and no frames. */
const plain: Model = { ...standard, model: 'plain', aliases: [] };

let service: HttpService;
let account: { accountId: string; key: string };
before(async () => {
  const catalogue = catalogueOf([rich, plain]);
  service = await startHttpService({ catalogue: () => catalogue });
  account = await service.newAccount(1_000_000);
  const text = 'update accounts set max_unfinished_tasks = 100000 where id = $1';
  await service.database.db.run({ name: 'test-allow-many-tasks', text }, [account.accountId]);
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
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': request.headers.get('content-type') ?? '' };
  return service.send('POST', '/v1/videos', { headers, body: Buffer.from(await request.arrayBuffer()) });
}

const read = ({ bytes }: Answer) => JSON.parse(bytes.toString()) as Record<string, unknown>; // every body here is an object

async function created(creating: Promise<Answer>): Promise<string> {
  const answer = await creating;
  assert.equal(answer.status, 200, answer.bytes.toString());
  return String(read(answer)['id']);
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

const image = 'https://x.test/a.png';
const other = 'https://x.test/b.png';
const least = { model: 'rich', prompt: 'A lighthouse' };

describe('a create is translated', () => {
  const cases: Readonly<Record<string, readonly [body: object, input: object]>> = {
    'seconds as text': [{ seconds: '8' }, { duration: 8 }],
    'seconds as a number': [{ seconds: 8 }, { duration: 8 }],
    'a size': [{ size: '1080x1920' }, { resolution: '1080p', ratio: '9:16' }],
    'nothing more': [{}, { resolution: '720p', ratio: '16:9', duration: 5 }],
    'null and empty texts': [{ seconds: null, size: '', input_reference: '', seed: null }, { duration: 5 }],
    "the client's own notes": [{ user: 'u', metadata: { a: 'b' }, safety_identifier: 's' }, {}],
    'our own names': [
      { resolution: '1080p', ratio: '9:16', duration: 6, generateAudio: true, options: { cameraFixed: true } },
      { resolution: '1080p', ratio: '9:16', duration: 6, generateAudio: true, options: { cameraFixed: true } },
    ],
    'a first frame as an address': [{ input_reference: image }, { firstFrameUrl: image }],
    'a first frame as an object': [{ input_reference: { image_url: image } }, { firstFrameUrl: image }],
    'several references': [{ input_reference: [image, other] }, { imageUrls: [image, other] }],
    'a reference for a model without frames': [{ model: 'plain', input_reference: image }, { imageUrls: [image] }],
    "LiteLLM's names": [
      {
        duration: 6,
        aspect_ratio: '9:16',
        generate_audio: true,
        seed: 7,
        frame_images: [
          { type: 'image_url', frame_type: 'first_frame', image_url: { url: image } },
          { type: 'image_url', frame_type: 'last_frame', image_url: { url: other } },
        ],
      },
      { duration: 6, ratio: '9:16', generateAudio: true, seed: 7, firstFrameUrl: image, lastFrameUrl: other },
    ],
    "LiteLLM's references": [
      {
        input_references: [
          { type: 'image_url', image_url: { url: image } },
          { type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } },
          { type: 'audio_url', audio_url: { url: 'https://x.test/a.mp3' } },
        ],
      },
      { imageUrls: [image], videoUrls: ['https://x.test/a.mp4'], audioUrls: ['https://x.test/a.mp3'] },
    ],
    "llmgateway's names": [
      { image, last_frame: other, audio: true },
      { firstFrameUrl: image, lastFrameUrl: other, generateAudio: true },
    ],
    "llmgateway's references": [{ reference_images: [image, { url: other }] }, { imageUrls: [image, other] }],
    'a negative prompt': [{ negative_prompt: 'rain' }, { negativePrompt: 'rain' }],
  };
  for (const [what, [body, expected]] of Object.entries(cases)) {
    test(what, async () => {
      const input = await inputOf(post({ ...least, ...body }));
      assert.deepEqual({ ...input, ...expected }, input);
    });
  }

  test('a data URL and the same file of a form become the same upload', async () => {
    const url = await dataUrl();
    const file = new Blob([Buffer.from(url.split(',')[1] ?? '', 'base64')]);
    const first = await inputOf(post({ ...least, input_reference: url }));
    const second = await inputOf(
      postForm([
        ['model', 'studio/rich'],
        ['prompt', 'A lighthouse'],
        ['input_reference', file],
        ['seconds', '6'],
        ['seed', '7'],
        ['generateAudio', 'true'],
        ['options[cameraFixed]', 'false'],
        ['options[style]', 'anime'],
      ]),
    );
    const prefix = uploadUrl(service.deps.publicUrl, { uploadId: '', fileName: 'image.jpg' }).split('/')[3];
    assert.match(String(first['firstFrameUrl']), new RegExp(`/${prefix}/`));
    const options = { cameraFixed: false, style: 'anime' };
    const { firstFrameUrl } = first;
    const expected = { ...second, firstFrameUrl, duration: 6, seed: 7, generateAudio: true, options };
    assert.deepEqual(expected, second);
  });

  test('a reference of a form in brackets', async () => {
    const fields = [
      ['model', 'rich'],
      ['prompt', 'A lighthouse'],
    ] as const;
    const input = await inputOf(postForm([...fields, ['input_reference[image_url]', image]]));
    assert.equal(input['firstFrameUrl'], image);
    const refused = await postForm([...fields, ['input_reference[file_id]', 'file-1']]);
    assertError(refused, 422, 'input_reference[file_id]', /is not supported; send the file itself/);
  });

  test('without a model, OpenAI’s own or the only one is taken', async () => {
    for (const models of [[{ ...rich, aliases: ['sora-2'] }, plain], [rich]]) {
      const catalogue = catalogueOf(models);
      const own = await startHttpService({ database: service.database, catalogue: () => catalogue });
      try {
        const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
        const creating = own.send('POST', '/v1/videos', { headers, body: '{"prompt":"A lighthouse"}' });
        assert.equal((await findTask(service.database.db, await created(creating)))?.param.model, 'rich');
      } finally {
        await own.close();
      }
    }
  });
});

function assertError(answer: Answer, status: number, param: string | null, message: RegExp): void {
  const { error } = read(answer) as { error: Record<string, unknown> }; // OpenAI's form, which the schema guarantees
  assert.deepEqual([answer.status, error['param']], [status, param], answer.bytes.toString());
  assert.match(String(error['message']), message);
}

describe('a create is refused in the words of the client', () => {
  const cases: readonly (readonly [body: object, param: string, message: RegExp])[] = [
    [{ model: undefined }, 'model', /is required: one of studio\/rich, plain$/],
    [{ model: 'sora-2' }, 'model', /must be one of studio\/rich, plain$/],
    [{ seconds: '3' }, 'seconds', /must be 4 to 15 seconds/],
    [{ seconds: 'long' }, 'seconds', /must be a number of seconds/],
    [{ size: '1024x1792' }, 'size', /must be one of 1280x720, 720x1280, 1920x1080, 1080x1920$/],
    [{ size: 720 }, 'size', /must be one of 1280x720/],
    [{ size: '1280x720', resolution: '720p' }, 'size', /must be left out together with resolution/],
    [{ size: '1280x720', aspect_ratio: '16:9' }, 'size', /must be left out together with aspect_ratio/],
    [{ seconds: '5', duration: 6 }, 'duration', /means the same as seconds; give one of them/],
    [{ input_reference: image, image: other }, 'image', /means the same as input_reference/],
    [
      { frame_images: [1, 2].map(() => ({ frame_type: 'first_frame', image_url: image })) },
      'frame_images',
      /means the same as its first value/,
    ],
    [{ frame_images: [{ frame_type: 'middle', image_url: image }] }, 'frame_images', /unknown field/],
    [{ input_reference: { file_id: 'file-1' } }, 'input_reference[file_id]', /send the file itself/],
    [{ input_reference: { nonsense: 1 } }, 'input_reference', /URL/],
    [{ input_reference: 'data:image/png;base64,%%' }, 'input_reference', /data URL in base64/],
    [{ input_reference: 'data:image/png;base64,AAAA' }, 'input_reference', /the file is not a readable/],
    [{ reference_images: Array.from({ length: 30 }, () => image) }, 'reference_images', /at most 3/],
    [{ model: 'plain', last_frame: image }, 'last_frame', /is not supported by plain/],
    [{ generate_audio: 'loud' }, 'generate_audio', /must be true or false/],
    [{ n: 2 }, 'n', /unknown field/],
    [{ prompt: '' }, 'prompt', /must not be empty/],
  ];
  for (const [body, param, message] of cases) {
    test(JSON.stringify(body).slice(0, 80), async () => {
      assertError(await post({ ...least, ...body }), 422, param, message);
    });
  }
});

describe('every documented failure of a create', () => {
  testCreateFailures({
    path: '/v1/videos',
    success: 200,
    body: (prompt, input_reference) => ({ model: 'videogen-2.0-fast', prompt, seconds: '4', input_reference }),
  });
});

describe('a video', () => {
  test('is described until its end, with the pause between two polls', async () => {
    const id = await created(post({ ...least, seconds: '4', size: '1280x720' }));
    const waiting = await send('GET', `/v1/videos/${id}`);
    assert.equal(waiting.headers['openai-poll-after-ms'], '2000');
    const shown = read(waiting);
    assert.deepEqual(
      [shown['status'], shown['model'], shown['size'], shown['seconds'], shown['expires_at']],
      ['queued', 'studio/rich', '1280x720', '4', null],
    );
    await succeed(id);
    const { status, completed_at, expires_at } = read(await send('GET', `/v1/videos/${id}`));
    assert.equal(status, 'completed');
    assert.equal(Number(expires_at) - Number(completed_at), 14 * 86_400);
  });

  test('redirects to its signed file, and to its poster', async () => {
    const id = await created(post(least));
    assertFailure(await send('GET', `/v1/videos/${id}/content`), 'task_not_finished');
    await succeed(id);
    for (const [query, file] of [
      ['', 'video.mp4'],
      ['?variant=video', 'video.mp4'],
      ['?variant=thumbnail', 'poster.jpg'],
    ]) {
      const { status, headers } = await send('GET', `/v1/videos/${id}/content${query}`);
      assert.equal(status, 302);
      assert.match(String(headers.location), new RegExp(`^http://media.test/media/results/${id}/${file}\\?expires=`));
    }
    assertFailure(await send('GET', `/v1/videos/${id}/content?variant=spritesheet`), 'variant_not_offered');
    assertError(await send('GET', `/v1/videos/${id}/content?variant=gif`), 422, 'variant', /must be one of video/);
    await markMediaDeleted(service.database.db, id);
    assertFailure(await send('GET', `/v1/videos/${id}/content`), 'media_deleted');
  });

  test('that failed has no content, and its reason is shown', async () => {
    const id = await created(post(least));
    await refundTask(service.database.db, id, { failCode: 'cancelled', failMsg: 'The task was cancelled.' });
    assertFailure(await send('GET', `/v1/videos/${id}/content`), 'media_missing');
    const { status, error } = read(await send('GET', `/v1/videos/${id}`));
    assert.deepEqual([status, error], ['failed', { code: 'cancelled', message: 'The task was cancelled.' }]);
  });

  test('of another account is not found, like an unknown one', async () => {
    const id = await created(post(least));
    const { key } = await service.newAccount(0);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/content'],
      ['DELETE', ''],
    ] as const) {
      for (const one of [id, '01900000-0000-7000-8000-000000000000', 'video_1']) {
        assertFailure(await send(method, `/v1/videos/${one}${path}`, key), 'task_not_found');
      }
    }
    assertError(await send('GET', '/v1/videos?after=x'), 422, 'after', /must be the id/);
    assertError(await send('GET', '/v1/videos?limit=0'), 422, 'limit', /from 1 to 100/);
    assertError(await send('GET', '/v1/videos?cursor=x'), 422, null, /unknown parameter/);
  });
});

describe('a deletion', () => {
  const deleted = (id: string) => ({ id, object: 'video.deleted', deleted: true });

  test('of a running video cancels and refunds it once, with an ordinary key', async () => {
    const id = await created(post(least));
    for (const _ of [1, 2]) assert.deepEqual(read(await send('DELETE', `/v1/videos/${id}`)), deleted(id));
    assert.deepEqual(await entryKinds(service.database.db, id), ['charge', 'refund']);
    assert.equal(service.stopped.filter(({ taskId }) => taskId === id).length, 1);
    assert.equal(read(await send('GET', `/v1/videos/${id}`))['status'], 'failed');
  });

  test('of a video that has ended needs the scope of deletions, and takes it from the list', async () => {
    const own = await service.newAccount(10_000);
    const [first, second] = [await created(post(least, own.key)), await created(post(least, own.key))];
    await succeed(first);
    const refused = await send('DELETE', `/v1/videos/${first}`, own.key);
    assertFailure(refused, 'scope_missing');
    const scopes = ['tasks:write', 'tasks:read', 'content:delete'] as const;
    const made = await createApiKey(service.database.db, { accountId: own.accountId, name: 'a', scopes });
    assert.ok(made);
    for (const _ of [1, 2])
      assert.deepEqual(read(await send('DELETE', `/v1/videos/${first}`, made.key)), deleted(first));
    assertFailure(await send('GET', `/v1/videos/${first}`, made.key), 'task_not_found');
    assertFailure(await send('GET', `/v1/videos/${first}/content`, made.key), 'task_not_found');
    const { data, ...page } = read(await send('GET', '/v1/videos', made.key));
    assert.deepEqual(page, { object: 'list', first_id: second, last_id: second, has_more: false });
    assert.equal((data as unknown[]).length, 1);
    assert.deepEqual(await entryKinds(service.database.db, first), ['charge'], 'a finished video stays paid');
  });
});

describe('the other paths', () => {
  test('models are listed by each of their names', async () => {
    const { data } = read(await send('GET', '/v1/models')) as { data: { id: string; owned_by: string }[] }; // the list's schema
    assert.deepEqual(
      data.map(({ id, owned_by }) => [id, owned_by]),
      [
        ['studio/rich', 'rich'],
        ['rich', 'rich'],
        ['plain', 'plain'],
      ],
    );
    assert.equal(read(await send('GET', '/v1/models/studio%2Frich'))['id'], 'studio/rich');
    assertFailure(await send('GET', '/v1/models/sora-2'), 'model_not_found');
  });

  for (const path of [
    'POST /v1/videos/edits',
    'POST /v1/videos/extensions',
    'POST /v1/videos/characters',
    'GET /v1/videos/characters/char_1',
    'POST /v1/videos/video_1/remix',
  ]) {
    test(`501 ${path}`, async () => {
      const [method = '', url = ''] = path.split(' ');
      assertFailure(await send(method, url), 'not_offered');
    });
  }

  test('404 and 405 have OpenAI’s form', async () => {
    assertError(await send('POST', '/v1/chat/completions'), 404, null, /unknown endpoint/);
    assertError(await send('PUT', '/v1/videos'), 405, null, /not allowed/);
  });

  test('a key of the dialect kie works, too', async () => {
    const scopes = ['tasks:write', 'tasks:read'] as const;
    const { accountId } = account;
    const made = await createApiKey(service.database.db, { accountId, name: 'k', scopes, dialect: 'kie' });
    assert.ok(made);
    const id = await created(post(least, made.key));
    assert.equal(read(await send('GET', `/v1/videos/${id}`, made.key))['id'], id);
  });
});
