import type { JsonObject } from '../../../src/platform/text/json.ts';
import { createComfyV2Provider } from '../../../src/providers/comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from '../../../src/providers/comfy/comfyui-provider.ts';
import type { Job, PolledProvider } from '../../../src/providers/provider-contract.ts';
import { skipWithoutComfyProxy, startComfyProxy } from '../../fakes/comfy/comfy-api-proxy.ts';
import { type FakeComfyui, startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { waitFor } from '../../support/wait-for.ts';
import { statusOf } from '../contract/job-request.ts';
import { clientFor, providerDeps } from '../loopback-client.ts';

// Both kinds that run workflows, each with its server.

const token = 'test-token';

export const workflow = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}', clip: ['4', 0] } },
  '3': { class_type: 'KSampler', inputs: { seed: '{{seed}}', steps: 20 } },
  '5': {
    class_type: 'Wan22ImageToVideoLatent',
    inputs: { width: '{{width:32}}', height: '{{height:32}}', length: '{{frames:4}}' },
  },
  '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}', format: 'mp4' } },
};
export const withImage = { ...workflow, '7': { class_type: 'LoadImage', inputs: { image: '{{image}}' } } };

/** Every field that a request can have. */
export const withAll = {
  ...withImage,
  '10': { class_type: 'CLIPTextEncode', inputs: { text: '{{negativePrompt}}' } },
  '11': { class_type: 'LoadImage', inputs: { image: '{{firstFrame}}' } },
  '12': { class_type: 'LoadImage', inputs: { image: '{{lastFrame}}' } },
  '13': { class_type: 'LoadVideo', inputs: { file: '{{video:1}}' } },
  '14': { class_type: 'LoadAudio', inputs: { audio: '{{audio:1}}' } },
  '15': {
    class_type: 'Settings',
    inputs: {
      resolution: '{{resolution}}',
      ratio: '{{ratio}}',
      seconds: '{{seconds}}',
      sound: '{{generateAudio}}',
      steps: '{{option:steps}}',
      second: '{{video:2}}',
    },
  },
};

export type Server = {
  readonly comfyui: FakeComfyui;
  readonly provider: (graph: object) => PolledProvider;
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

const config = { upstreamModel: 'wan', options: { parameters: { fps: 16 } } };

export function comfyuiAt(baseUrl: string, graph: object = workflow) {
  const deps = providerDeps({ kind: 'comfyui', baseUrl, ...config });
  return createComfyuiProvider({ ...deps, workflow: () => graph as JsonObject }); // graphs are JSON
}

function comfyV2At(baseUrl: string, graph: object) {
  const deps = providerDeps({ kind: 'comfy-v2', baseUrl, ...config }, clientFor(baseUrl, token));
  return createComfyV2Provider({ ...deps, workflow: () => graph as JsonObject }); // graphs are JSON
}

export const kinds: readonly { name: 'comfyui' | 'comfy-v2'; skip: string | false; start: () => Promise<Server> }[] = [
  {
    name: 'comfyui',
    skip: false,
    start: async () => {
      const comfyui = await startFakeComfyui();
      return { ...comfyui, comfyui, provider: (graph) => comfyuiAt(`http://${comfyui.address}`, graph) };
    },
  },
  {
    name: 'comfy-v2',
    skip: skipWithoutComfyProxy,
    start: async () => {
      const proxy = await startComfyProxy(token);
      return { ...proxy, provider: (graph) => comfyV2At(`http://${proxy.address}`, graph) };
    },
  },
];

/** A connection from before a restart breaks, which is no verdict. */
export async function verdictOf(provider: PolledProvider, job: Job) {
  return await waitFor('a verdict', async () => {
    const status = await statusOf(provider, job);
    return status.state === 'unclear' ? undefined : status;
  });
}
