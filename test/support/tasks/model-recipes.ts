import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reencodeJpegPngOrWebp } from '../../../src/media/pictures/reencode-jpeg-png-webp.ts';
import { type ArkUpstream, startArkUpstream } from '../../fakes/ark-upstream.ts';
import { skipWithoutCog, startCogUpstream } from '../../fakes/cog/cog-server.ts';
import { startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { skipWithoutPython, startExampleUpstream } from '../../fakes/example-upstream.ts';
import { upstreamKey } from '../../fakes/provider-kinds.ts';
import { startScriptedUpstream } from '../../fakes/provider-file-upstream.ts';
import type { BookedJob, RunningUpstream } from '../../fakes/upstream-books.ts';
import { shippedFile } from '../../providers/http/shipped-file.ts';

// The recipes of docs/models.md with their counterparts, and with the task, the price and the request to the upstream that the
// command of each makes.

type Started = {
  readonly upstream: RunningUpstream;
  /** Returns the part of its creates that the command and the recipe decide. */
  readonly sent: (job: BookedJob) => unknown;
};

export type ModelRecipe = {
  readonly skip?: string | false;
  /** `folder` has the local files of the commands, and a video of 1080p in `full-hd.mp4`. */
  readonly start: (folder: string) => Promise<Started>;
  /** The input of the record, in which every local file is `served`. */
  readonly input: object;
  readonly price: { readonly priceName: string; readonly creditsCharged: number };
  readonly video: { readonly widthPx: number; readonly heightPx: number; readonly hasAudio: boolean };
  /** The result of `Started.sent`, in which the id of the task is `the task`. */
  readonly sent: (folder: string) => unknown;
};

const wide = { ratio: '16:9', imageUrls: [] };
const hd = { widthPx: 1280, heightPx: 720 };
const frames = { firstFrameUrl: 'served', lastFrameUrl: 'served' };

/** An image as upstreams get it, in base64. */
async function base64Of(path: string): Promise<string> {
  return (await reencodeJpegPngOrWebp(await readFile(path))).jpeg.toString('base64');
}

async function arkFrame(path: string, role: string): Promise<object> {
  return { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${await base64Of(path)}` }, role };
}

async function veoFrame(path: string): Promise<object> {
  return { bytesBase64Encoded: await base64Of(path), mimeType: 'image/jpeg' };
}

/** The account and the deadline are left out, because the recipe does not decide them. */
function arkTaskFields(create: ArkUpstream['creates'][number]): object {
  const decided = Object.entries(create).filter(([name]) => !/^(?:safety_identifier|execution_)/.test(name));
  return Object.fromEntries(decided);
}

async function startScripted(name: 'kling' | 'veo'): Promise<Started> {
  const upstream = await startScriptedUpstream(shippedFile(name));
  return { upstream, sent: () => upstream.creates };
}

const sampler = { model: ['3', 0], positive: ['1', 0], negative: ['2', 0], latent_image: ['6', 0], cfg: 5, denoise: 1 };
const latent = { vae: ['5', 0], batch_size: 1 };

/** A graph for the 5B model of Wan 2.2, with the placeholders of the recipe's input. */
export const wanWorkflow = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}', clip: ['4', 0] } },
  '2': { class_type: 'CLIPTextEncode', inputs: { text: '{{negativePrompt}}', clip: ['4', 0] } },
  '3': { class_type: 'UNETLoader', inputs: { unet_name: 'wan2.2_ti2v_5B.safetensors', weight_dtype: 'default' } },
  '4': { class_type: 'CLIPLoader', inputs: { clip_name: 'umt5_xxl.safetensors', type: 'wan' } },
  '5': { class_type: 'VAELoader', inputs: { vae_name: 'wan2.2_vae.safetensors' } },
  '6': {
    class_type: 'Wan22ImageToVideoLatent',
    inputs: { ...latent, width: '{{width:32}}', height: '{{height:32}}', length: '{{frames:4}}' },
  },
  '7': {
    class_type: 'KSampler',
    inputs: {
      ...sampler,
      seed: '{{seed}}',
      steps: '{{option:steps}}',
      sampler_name: 'uni_pc',
      scheduler: 'simple',
    },
  },
  '8': { class_type: 'VAEDecode', inputs: { samples: ['7', 0], vae: ['5', 0] } },
  '9': { class_type: 'CreateVideo', inputs: { images: ['8', 0], fps: '{{fps}}' } },
  '10': {
    class_type: 'SaveVideo',
    inputs: { video: ['9', 0], filename_prefix: '{{prefix}}', format: 'mp4', codec: 'h264' },
  },
};

const lighthouse = {
  prompt: 'a lighthouse',
  resolution: '768p',
  duration: 8,
  generateAudio: false,
  seed: 7,
  options: { style: 'anime' },
};

/** By the name of the recipe's provider. */
export const modelRecipes: Readonly<Record<string, ModelRecipe>> = {
  ark: {
    start: async (folder) => {
      const upstream = await startArkUpstream({ key: upstreamKey, videoPath: join(folder, 'full-hd.mp4') });
      return { upstream, sent: () => upstream.creates.map(arkTaskFields) };
    },
    input: { ...wide, ...frames, prompt: 'the tide rises', resolution: '1080p', duration: 5, generateAudio: true },
    price: { priceName: '1080p', creditsCharged: 5 * 82 },
    video: { widthPx: 1920, heightPx: 1080, hasAudio: true },
    sent: async (folder) => [
      {
        model: 'dreamina-seedance-2-0-260128',
        content: [
          { type: 'text', text: 'the tide rises' },
          await arkFrame(join(folder, 'low.jpg'), 'first_frame'),
          await arkFrame(join(folder, 'high.jpg'), 'last_frame'),
        ],
        resolution: '1080p',
        ratio: '16:9',
        duration: 5,
        generate_audio: true,
        watermark: false,
      },
    ],
  },
  kling: {
    start: () => startScripted('kling'),
    input: {
      ...wide,
      prompt: 'a market at dawn',
      negativePrompt: 'people, text',
      resolution: '720p',
      duration: 5,
      generateAudio: false,
    },
    price: { priceName: 'standard', creditsCharged: 5 * 40 },
    video: { ...hd, hasAudio: false },
    sent: () => [
      {
        model_name: 'kling-v2-6',
        prompt: 'a market at dawn',
        negative_prompt: 'people, text',
        duration: '5',
        aspect_ratio: '16:9',
        sound: 'off',
        external_task_id: 'the task',
      },
    ],
  },
  veo: {
    start: () => startScripted('veo'),
    input: { ...wide, ...frames, prompt: 'the flower opens', resolution: '720p', duration: 8, generateAudio: true },
    price: { priceName: 'standard', creditsCharged: 8 * 80 },
    video: { ...hd, hasAudio: true },
    sent: async (folder) => [
      {
        instances: [
          {
            prompt: 'the flower opens',
            image: await veoFrame(join(folder, 'bud.jpg')),
            lastFrame: await veoFrame(join(folder, 'bloom.jpg')),
          },
        ],
        parameters: { aspectRatio: '16:9', resolution: '720p', durationSeconds: 8 },
      },
    ],
  },
  comfy: {
    start: async () => {
      const upstream = await startFakeComfyui();
      return { upstream, sent: () => upstream.graphs };
    },
    input: {
      ...wide,
      prompt: 'a paper boat',
      resolution: '720p',
      duration: 5,
      generateAudio: false,
      seed: 7,
      options: { steps: 30 },
    },
    price: { priceName: 'standard', creditsCharged: 5 * 8 },
    video: { ...hd, hasAudio: false },
    sent: (): readonly object[] => {
      const inputs: Readonly<Record<string, object>> = {
        '1': { text: 'a paper boat' },
        // ComfyUI refuses a node without its text.
        '2': { text: '' },
        '6': { width: 1280, height: 736, length: 121 },
        '7': { seed: 7, steps: 30 },
        '9': { fps: 24 },
        '10': { filename_prefix: 'videogen/the task' },
      };
      const filled = Object.entries(wanWorkflow).map(([id, node]) => {
        return [id, { ...node, inputs: { ...node.inputs, ...inputs[id] } }] as const;
      });
      return [Object.fromEntries(filled)];
    },
  },
  box: {
    skip: skipWithoutCog,
    start: async () => {
      const upstream = await startCogUpstream();
      return { upstream, sent: () => upstream.runs() };
    },
    input: {
      prompt: 'a friendly presenter',
      resolution: '720p',
      duration: 10,
      ratio: 'adaptive',
      generateAudio: true,
      imageUrls: [],
      firstFrameUrl: 'served',
      audioUrls: ['served'],
    },
    price: { priceName: 'standard', creditsCharged: 120 },
    video: { ...hd, hasAudio: true },
    sent: () => ['a friendly presenter|0|0|data:image/jpeg;base64|data:audio/mpeg;base64'],
  },
  script: {
    skip: skipWithoutPython,
    start: async () => {
      const upstream = await startExampleUpstream({ key: upstreamKey });
      return { upstream, sent: ({ id }) => upstream.requestOf(id) };
    },
    input: { ...wide, ...lighthouse },
    price: { priceName: 'style anime', creditsCharged: 8 * 30 },
    video: { ...hd, hasAudio: false },
    sent: () => ({
      version: 2,
      model: 'our-model',
      input: { ...lighthouse, ratio: '16:9', width: 1366, height: 768 },
      media: { images: [], videos: [], audios: [] },
      parameters: {},
      deadlineSeconds: 1800,
    }),
  },
};
