import type { FieldName } from '../../../src/catalogue/input/task-input.ts';

// The requests that upstreams get for the fields of `everyField`, where code or a shipped file builds them. Media are shown by their
// names, the id of the task as `the task`.

export type Sent = { readonly [Name in FieldName]?: object };

/** A task with the fields of `sent`, each with its part of the request; `always` is the part that no field decides. */
export type FieldTask = { readonly always: object; readonly sent: Sent };

export const upstreamModel = 'upstream-model';
const [prompt, negativePrompt, seed] = ['the prompt', 'fog', 42];
export const [width, height] = [480, 854];
export const [jpeg, mp4, mp3] = ['image/jpeg', 'video/mp4', 'audio/mpeg'];

export const own: FieldTask = {
  always: {
    version: 2,
    model: upstreamModel,
    media: { images: [], videos: [], audios: [] },
    parameters: {},
    deadlineSeconds: 1800,
  },
  sent: {
    prompt: { input: { prompt } },
    negativePrompt: { input: { negativePrompt } },
    resolution: { input: { resolution: '480p', width, height } },
    duration: { input: { duration: 7 } },
    ratio: { input: { ratio: '9:16', width, height } },
    generateAudio: { input: { generateAudio: false } },
    imageUrls: { media: { images: [`${jpeg} image`] } },
    firstFrameUrl: { media: { firstFrame: `${jpeg} first` } },
    lastFrameUrl: { media: { lastFrame: `${jpeg} last` } },
    videoUrls: { media: { videos: ['link video'] } },
    audioUrls: { media: { audios: ['link audio'] } },
    seed: { input: { seed } },
    options: { input: { options: { cameraFixed: true, style: 'natural' } } },
  },
};

const content = (type: string, url: string, role?: string) => ({ type, [type]: { url }, ...(role && { role }) });
const arkAlways = { model: upstreamModel, watermark: false };
const arkScalars: Sent = {
  prompt: { content: [{ type: 'text', text: prompt }] },
  resolution: { resolution: '480p' },
  duration: { duration: 7 },
  ratio: { ratio: '9:16' },
  generateAudio: { generate_audio: false },
  seed: { seed },
  options: { camera_fixed: true, style: 'natural' },
};
export const ark: readonly FieldTask[] = [
  {
    always: arkAlways,
    sent: {
      ...arkScalars,
      imageUrls: { content: [content('image_url', `${jpeg} image`, 'reference_image')] },
      videoUrls: { content: [content('video_url', 'link video', 'reference_video')] },
      audioUrls: { content: [content('audio_url', 'link audio', 'reference_audio')] },
    },
  },
  {
    always: arkAlways,
    sent: {
      ...arkScalars,
      firstFrameUrl: { content: [content('image_url', `${jpeg} first`, 'first_frame')] },
      lastFrameUrl: { content: [content('image_url', `${jpeg} last`, 'last_frame')] },
    },
  },
];

const vllmScalars: Sent = {
  prompt: { prompt },
  negativePrompt: { negative_prompt: negativePrompt },
  resolution: { width: '480', height: '854' },
  duration: { seconds: '7', num_frames: '168', extra_params: { duration: 7 } },
  ratio: { width: '480', height: '854' },
  generateAudio: { generate_sound: 'false' },
  seed: { seed: '42' },
  options: { extra_params: { camera_fixed: true, style: 'natural' } },
};
const vllmAlways = { model: 'MiniMax-H3', fps: '24' };
export const vllm: readonly FieldTask[] = [
  {
    always: vllmAlways,
    sent: { ...vllmScalars, imageUrls: { input_reference: 'file image', extra_params: { task: 'ref2va' } } },
  },
  {
    always: vllmAlways,
    sent: {
      ...vllmScalars,
      firstFrameUrl: { input_references: ['file first'], extra_params: { task: 'fl2va' } },
      lastFrameUrl: { input_references: ['file last'], extra_params: { task: 'fl2va' } },
    },
  },
];

const formScalars: Sent = {
  prompt: { prompt },
  resolution: { size: `${width}x${height}` },
  duration: { seconds: '7' },
  ratio: { size: `${width}x${height}` },
  options: { camera_fixed: 'true', style: 'natural' },
};
export function formTasks(others: Sent): readonly FieldTask[] {
  const sent = { ...formScalars, ...others };
  return [
    { always: { model: upstreamModel }, sent: { ...sent, imageUrls: { input_reference: 'file image' } } },
    { always: { model: upstreamModel }, sent: { ...sent, firstFrameUrl: { input_reference: 'file first' } } },
  ];
}

const routedScalars: Sent = {
  prompt: { prompt },
  resolution: { resolution: '480p' },
  duration: { duration: 7 },
  ratio: { aspect_ratio: '9:16' },
  generateAudio: { generate_audio: false },
  seed: { seed },
};
export const openrouter: readonly FieldTask[] = [
  {
    always: { model: upstreamModel },
    sent: {
      ...routedScalars,
      imageUrls: { input_references: [content('image_url', `${jpeg} image`)] },
      videoUrls: { input_references: [content('video_url', 'link video')] },
      audioUrls: { input_references: [content('audio_url', 'link audio')] },
    },
  },
  {
    always: { model: upstreamModel },
    sent: {
      ...routedScalars,
      firstFrameUrl: { frame_images: [{ ...content('image_url', `${jpeg} first`), frame_type: 'first_frame' }] },
      lastFrameUrl: { frame_images: [{ ...content('image_url', `${jpeg} last`), frame_type: 'last_frame' }] },
    },
  },
];

const falScalars: Sent = {
  ...routedScalars,
  duration: { duration: '7' },
  options: { camera_fixed: true, style: 'natural' },
};
export const fal: readonly FieldTask[] = [
  {
    always: {},
    sent: {
      ...falScalars,
      imageUrls: { image_urls: [`${jpeg} image`] },
      videoUrls: { video_urls: [`${mp4} video`] },
      audioUrls: { audio_urls: [`${mp3} audio`] },
    },
  },
  {
    always: {},
    sent: {
      ...falScalars,
      firstFrameUrl: { image_url: `${jpeg} first` },
      lastFrameUrl: { end_image_url: `${jpeg} last` },
    },
  },
];

const wanMedia = (type: string, name: string) => ({ input: { media: [{ type, url: `link ${name}` }] } });
const wanScalars: Sent = {
  prompt: { input: { prompt } },
  negativePrompt: { input: { negative_prompt: negativePrompt } },
  resolution: { parameters: { resolution: '480P' } },
  duration: { parameters: { duration: 7 } },
  seed: { parameters: { seed } },
  options: { parameters: { camera_fixed: true, style: 'natural' } },
};
/** Videos with frames take no ratio there, and those with references no audio. */
export const wan: readonly FieldTask[] = [
  {
    always: { model: 'wan2.7-r2v', parameters: { watermark: false } },
    sent: {
      ...wanScalars,
      ratio: { parameters: { ratio: '9:16' } },
      imageUrls: wanMedia('reference_image', 'image'),
      videoUrls: wanMedia('reference_video', 'video'),
    },
  },
  {
    always: { model: 'wan2.7-i2v', parameters: { watermark: false } },
    sent: {
      ...wanScalars,
      firstFrameUrl: wanMedia('first_frame', 'first'),
      lastFrameUrl: wanMedia('last_frame', 'last'),
      audioUrls: wanMedia('driving_audio', 'audio'),
    },
  },
];
