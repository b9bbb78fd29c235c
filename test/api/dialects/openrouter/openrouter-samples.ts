import assert from 'node:assert/strict';
import { modelInputDeclarationSchema } from '../../../../src/catalogue/input/model-input-declaration-schema.ts';
import { defaultModels, type Model } from '../../../../src/catalogue/models/model-type-and-name-lookup.ts';

const [first] = defaultModels;
assert.ok(first);
export const standard: Model = first;

/** Takes every field. */
export const rich: Model = {
  ...standard,
  model: 'rich',
  aliases: ['studio/rich'],
  input: modelInputDeclarationSchema.parse({
    negativePrompt: {},
    resolution: { values: ['720p', '1440p', '2160p'] },
    duration: { values: [5, 10] },
    ratio: { values: ['adaptive', '16:9', '9:16'] },
    generateAudio: { default: false },
    imageUrls: { max: 2 },
    firstFrameUrl: {},
    lastFrameUrl: { requires: 'firstFrameUrl' },
    videoUrls: { max: 1 },
    audioUrls: { max: 1 },
    seed: {},
    options: { cameraFixed: { type: 'boolean' }, style: { type: 'string', values: ['natural', 'anime'] } },
    exclusive: [['imageUrls', 'firstFrameUrl']],
  }),
};
export const plain: Model = {
  ...standard,
  model: 'plain',
  aliases: ['studio/plain'],
  input: modelInputDeclarationSchema.parse({
    resolution: { values: ['720p'] },
    duration: { min: 4, max: 15 },
    ratio: { values: ['16:9'] },
    generateAudio: { fixed: false },
    imageUrls: { max: 0 },
  }),
};

export const smallest = { model: 'studio/rich', prompt: 'A lighthouse' };
const file = 'https://example.com/file';
export const image = { type: 'image_url', image_url: { url: file } };

export const translated: Readonly<Record<string, readonly [body: object, input: object]>> = {
  'the fields of a video': [
    { duration: 10, resolution: '720p', aspect_ratio: '9:16', generate_audio: true, seed: 7 },
    { duration: 10, resolution: '720p', ratio: '9:16', generateAudio: true, seed: 7 },
  ],
  'a size': [{ size: '720x1280' }, { resolution: '720p', ratio: '9:16' }],
  'a size with what it stands for': [
    { size: '3840x2160', resolution: '4K', aspect_ratio: '16:9' },
    { resolution: '2160p', ratio: '16:9' },
  ],
  'resolutions by their other names': [{ resolution: '2k' }, { resolution: '1440p' }],
  'resolutions in capitals': [{ resolution: '720P' }, { resolution: '720p' }],
  'both frames': [
    {
      frame_images: [
        { ...image, frame_type: 'last_frame', image_url: { url: `${file}2` } },
        { ...image, frame_type: 'first_frame' },
      ],
    },
    { firstFrameUrl: file, lastFrameUrl: `${file}2`, ratio: 'adaptive' },
  ],
  'a frame as an address alone': [{ frame_images: [file] }, { firstFrameUrl: file, ratio: 'adaptive' }],
  'two frames, one without a frame_type': [
    { frame_images: [{ ...image, frame_type: 'last_frame', image_url: { url: `${file}2` } }, image] },
    { firstFrameUrl: file, lastFrameUrl: `${file}2`, ratio: 'adaptive' },
  ],
  'a frame without a frame_type': [{ frame_images: [image] }, { firstFrameUrl: file, ratio: 'adaptive' }],
  'references as addresses alone': [
    { input_references: [file, { url: `${file}2` }] },
    { imageUrls: [file, `${file}2`] },
  ],
  'an address without an object': [
    { input_references: [{ type: 'image_url', image_url: file }] },
    { imageUrls: [file] },
  ],
  'numbers and booleans as text': [
    { duration: '10', generate_audio: 'true', seed: '7' },
    { duration: 10, generateAudio: true, seed: 7 },
  ],
  references: [
    {
      input_references: [
        { type: 'video_url', video_url: { url: `${file}3` } },
        image,
        { type: 'audio_url', audio_url: { url: `${file}4` } },
      ],
    },
    { imageUrls: [file], videoUrls: [`${file}3`], audioUrls: [`${file}4`] },
  ],
  'parameters of the model': [
    { provider: { options: { videogen: { negative_prompt: 'fog', cameraFixed: true, style: 'anime' } } } },
    { negativePrompt: 'fog', options: { cameraFixed: true, style: 'anime' } },
  ],
  'what has no effect on the video': [
    { user: 'user-1', session_id: 's', trace: { trace_id: 't' }, frame_images: [], input_references: [], size: null },
    {},
  ],
  'null for every field that was left out': [
    Object.fromEntries(
      (
        'duration resolution aspect_ratio frame_images input_references generate_audio seed callback_url ' +
        'provider previous_job_id creativity upscale_factor user'
      )
        .split(' ')
        .map((name) => [name, null]),
    ),
    {},
  ],
  'null for the parameters of the model': [{ provider: { options: { videogen: null } } }, {}],
  'null for the options of a provider': [{ provider: { options: null } }, {}],
};

export const refused: Readonly<Record<string, readonly [body: object, path: string, message: RegExp]>> = {
  'no model': [{ model: undefined }, 'model', /^is required/],
  'an unknown model': [{ model: 'veo' }, 'model', /^must be one of studio\/rich, rich, studio\/plain, plain$/],
  'no prompt': [{ prompt: undefined }, 'prompt', /^is required$/],
  'an unknown field': [{ aspectRatio: '16:9' }, 'aspectRatio', /^unknown field, did you mean aspect_ratio\?$/],
  'a ratio that is not sold': [{ aspect_ratio: '4:3' }, 'aspect_ratio', /^must be one of adaptive, 16:9, 9:16$/],
  'a duration that is not sold': [{ duration: 7 }, 'duration', /^must be one of 5, 10 seconds$/],
  'a size that is not sold': [{ size: '1x1' }, 'size', /^must be one of 1280x720, 720x1280, 2560x1440/],
  'a size beside another ratio': [{ size: '1280x720', aspect_ratio: '9:16' }, 'size', /^must agree with/],
  'two first frames': [
    { frame_images: [1, 2].map(() => ({ ...image, frame_type: 'first_frame' })) },
    'frame_images[1].image_url.url',
    /^means the same as frame_images\[0\]\.image_url\.url; give one of them$/,
  ],
  'a last frame alone': [
    { frame_images: [{ ...image, frame_type: 'last_frame' }] },
    'frame_images',
    /^first_frame is required together with last_frame for rich$/,
  ],
  'a frame beside references': [
    { frame_images: [{ ...image, frame_type: 'first_frame' }], input_references: [image] },
    'frame_images[0].image_url.url',
    /^must be left out together with input_references: /,
  ],
  'too many references': [
    { input_references: [image, image, image] },
    'input_references',
    /^must hold at most 2 URLs$/,
  ],
  'a data URL without base64': [
    { input_references: [{ ...image, image_url: { url: 'data:x' } }] },
    'input_references[0].image_url.url',
    /data URL in base64/,
  ],
  'a data URL of text': [
    { input_references: [{ ...image, image_url: { url: 'data:image/png;base64,aGVsbG8=' } }] },
    'input_references[0].image_url.url',
    /^the file /,
  ],
  'a frame of an unknown type': [
    { frame_images: [{ ...image, frame_type: 'middle' }] },
    'frame_images[0].frame_type',
    /^must be one of first_frame, last_frame$/,
  ],
  'a reference that is a number': [
    { input_references: [5] },
    'input_references[0]',
    /^must be a URL, or like \{"type"/,
  ],
  'an unknown field of a reference': [
    { input_references: [{ ...image, weight: 2 }] },
    'input_references[0].weight',
    /^unknown field$/,
  ],
  'another spelling of a ratio': [{ aspect_ratio: '16x9' }, 'aspect_ratio', /; did you mean 16:9\?$/],
  'another spelling of adaptive': [{ aspect_ratio: 'Auto' }, 'aspect_ratio', /; did you mean adaptive\?$/],
  'a space after the name of a model': [{ model: 'studio/rich ' }, 'model', /; did you mean studio\/rich\?$/],
  'a seed for a model without': [{ model: 'studio/plain', seed: 1 }, 'seed', /^is not supported by this model/],
  'a frame for a model without': [
    { model: 'studio/plain', frame_images: [{ ...image, frame_type: 'first_frame' }] },
    'frame_images[0].image_url.url',
    /^is not supported by this model/,
  ],
  'sound of a silent model': [{ model: 'studio/plain', generate_audio: true }, 'generate_audio', /^must be false$/],
  'an unknown parameter': [
    { provider: { options: { videogen: { speed: 1 } } } },
    'provider.options.videogen.speed',
    /^unknown option/,
  ],
  'parameters of another provider': [
    { provider: { options: { byteplus: { fast: true } } } },
    'provider.options.byteplus',
    /./,
  ],
  'a routing preference': [{ provider: { order: ['x'] } }, 'provider.order', /^unknown field$/],
  'a continued video': [{ previous_job_id: 'x' }, 'previous_job_id', /^continuing a video is not supported; leave/],
  upscaling: [{ upscale_factor: 2 }, 'upscale_factor', /^upscaling is not supported/],
  'a higher creativity': [{ creativity: 1 }, 'creativity', /^upscaling is not supported/],
  'more than fifty frames': [
    { frame_images: Array.from({ length: 51 }, () => image) },
    'frame_images',
    /^must have at most 50 items$/,
  ],
  'a callback to no URL': [{ callback_url: 'x' }, 'callback_url', /^must be an http or https URL/],
};
