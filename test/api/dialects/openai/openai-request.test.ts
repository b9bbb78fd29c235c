import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { uploadUrl } from '../../../../src/media/references/upload-limits-and-addresses.ts';
import { findTask } from '../../../../src/tasks/task-rows.ts';
import { catalogueOf, startHttpService } from '../../../support/service/http-service.ts';
import { dataUrl } from '../data-url.ts';
import { assertError, created, least, plain, rich, useOpenAI } from './openai-stage.ts';

const { service, account, post, postForm, inputOf } = useOpenAI();

const image = 'https://x.test/a.png';
const other = 'https://x.test/b.png';

describe('a create is translated', () => {
  const cases: Readonly<Record<string, readonly [body: object, input: object]>> = {
    'seconds as text': [{ seconds: '8' }, { duration: 8 }],
    'seconds as a number': [{ seconds: 8 }, { duration: 8 }],
    'a size': [{ size: '1080x1920' }, { resolution: '1080p', ratio: '9:16' }],
    'nothing more': [{}, { resolution: '720p', ratio: '16:9', duration: 5 }],
    'null and empty texts': [{ seconds: null, size: '', input_reference: '', seed: null }, { duration: 5 }],
    "the client's own notes": [{ user: 'u', metadata: { a: 'b', prompt: 'x' }, safety_identifier: 's' }, {}],
    'fields that gateways put into metadata': [
      { metadata: { seed: '7', negative_prompt: 'rain', aspect_ratio: '9:16', order: 'A1' } },
      { seed: 7, negativePrompt: 'rain', ratio: '9:16' },
    ],
    'fields in metadata as the text of a form': [{ metadata: '{"seed": "7", "order": "A1"}' }, { seed: 7 }],
    'a field in metadata that the request repeats': [{ seed: 7, metadata: { seed: 7 } }, { seed: 7 }],
    'one video': [{ n: 1 }, {}],
    'a frame as an address alone': [{ frame_images: [image] }, { firstFrameUrl: image }],
    'a frame without a frame_type': [{ frame_images: [{ image_url: { url: image } }] }, { firstFrameUrl: image }],
    'a first frame without a ratio': [{ input_reference: image }, { firstFrameUrl: image, ratio: 'adaptive' }],
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
    "New API's references": [{ images: [image, { url: other }] }, { imageUrls: [image, other] }],
    'frames by their roles': [
      { first_frame: image, last_frame: other },
      { firstFrameUrl: image, lastFrameUrl: other },
    ],
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
        ['generateAudio', 'True'],
        ['options[cameraFixed]', 'false'],
        ['options[style]', 'anime'],
      ]),
    );
    const prefix = uploadUrl(service().deps.publicUrl, { uploadId: '', fileName: 'image.jpg' }).split('/')[3];
    assert.match(String(first['firstFrameUrl']), new RegExp(`/${prefix}/`));
    const options = { cameraFixed: false, style: 'anime' };
    const { firstFrameUrl } = first;
    const expected = { ...second, firstFrameUrl, duration: 6, seed: 7, generateAudio: true, options };
    assert.deepEqual(expected, second);
  });

  test('an option that is text stays text, also if it looks like a number', async () => {
    const json = await inputOf(post({ ...least, options: { style: '5' } }));
    const fields = [
      ['model', 'rich'],
      ['prompt', 'A lighthouse'],
      ['options[style]', '5'],
    ] as const;
    const form = await inputOf(postForm(fields));
    for (const { options } of [json, form]) assert.deepEqual(options, { style: '5' });
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
      const own = await startHttpService({ database: service().database, catalogue: () => catalogue });
      try {
        const headers = { authorization: `Bearer ${account().key}`, 'content-type': 'application/json' };
        const creating = own.send('POST', '/v1/videos', { headers, body: '{"prompt":"A lighthouse"}' });
        assert.equal((await findTask(service().database.db, await created(creating)))?.param.model, 'rich');
      } finally {
        await own.close();
      }
    }
  });
});

describe('a create is refused in the words of the client', () => {
  const cases: readonly (readonly [body: object, param: string, message: RegExp])[] = [
    [{ model: undefined }, 'model', /is required: one of studio\/rich, rich, plain$/],
    [{ model: 'sora-2' }, 'model', /must be one of studio\/rich, rich, plain$/],
    [{ seconds: '3' }, 'seconds', /must be 4 to 15 seconds/],
    [{ seconds: 'long' }, 'seconds', /must be a number of seconds/],
    [{ size: '1024x1792' }, 'size', /must be one of 1280x720, 720x1280, 1920x1080, 1080x1920$/],
    [{ size: 720 }, 'size', /must be one of 1280x720/],
    [{ size: '1280x720', resolution: '1080p' }, 'size', /must agree with the resolution and the aspect ratio$/],
    [{ size: '1280x720', aspect_ratio: '9:16' }, 'size', /must agree with the resolution and the aspect ratio$/],
    [{ seconds: '5', duration: 6 }, 'duration', /means the same as seconds; give one of them/],
    [{ input_reference: image, image: other }, 'image', /means the same as input_reference/],
    [{ images: [image], reference_images: [image] }, 'reference_images', /means the same as images/],
    [
      { frame_images: [1, 2].map(() => ({ frame_type: 'first_frame', image_url: image })) },
      'frame_images[1].image_url',
      /means the same as frame_images\[0\]\.image_url/,
    ],
    [
      { frame_images: [{ frame_type: 'middle', image_url: image }] },
      'frame_images[0].frame_type',
      /must be one of first_frame, last_frame/,
    ],
    [{ frame_images: [image, other] }, 'frame_images[0]', /must name the frame: \{"frame_type"/],
    [{ input_references: [7] }, 'input_references[0]', /must be a URL, or like/],
    [{ metadata: { seed: 1 }, seed: 2 }, 'metadata.seed', /means the same as seed; give one of them/],
    [
      { metadata: '{"content": [{"type": "video_url", "video_url": {"url": "https://a.example/1.mp4"}}]}' },
      'metadata.content',
      /is not used; send words as prompt/,
    ],
    [{ metadata: { seed: 'x' } }, 'metadata.seed', /must be a whole number/],
    [{ model: 'rich ' }, 'model', /did you mean rich\?$/],
    [{ aspect_ratio: '16x9' }, 'aspect_ratio', /did you mean 16:9\?$/],
    [{ resolution: '720P' }, 'resolution', /did you mean 720p\?$/],
    [{ resolution: '1920x1080' }, 'resolution', /did you mean 1080p\?$/],
    [{ seconds: '5s' }, 'seconds', /did you mean 5\?$/],
    [{ seed: -1 }, 'seed', /leave it out for a random one$/],
    [{ input_reference: { file_id: 'file-1' } }, 'input_reference[file_id]', /send the file itself/],
    [{ input_reference: { nonsense: 1 } }, 'input_reference', /URL/],
    [{ input_reference: 'data:image/png;base64,%%' }, 'input_reference', /data URL in base64/],
    [{ input_reference: 'data:image/png;base64,AAAA' }, 'input_reference', /the file is not a readable/],
    [{ reference_images: Array.from({ length: 30 }, () => image) }, 'reference_images', /at most 3/],
    [{ model: 'plain', last_frame: image }, 'last_frame', /is not supported by this model/],
    [{ generate_audio: 'loud' }, 'generate_audio', /must be true or false/],
    [{ n: 2 }, 'n', /must be 1; send a request for each video/],
    [{ nn: 2 }, 'nn', /unknown field/],
    [{ prompt: '' }, 'prompt', /must not be empty/],
  ];
  for (const [body, param, message] of cases) {
    test(JSON.stringify(body).slice(0, 80), async () => {
      assertError(await post({ ...least, ...body }), 422, param, message);
    });
  }
});
