import { createComfyV2Provider } from '../../../src/providers/comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from '../../../src/providers/comfy/comfyui-provider.ts';
import type { Job, PolledProvider } from '../../../src/providers/contract.ts';
import { skipWithoutComfyProxy, startComfyProxy } from '../../fakes/comfy-api-proxy.ts';
import { type FakeComfyui, startFakeComfyui } from '../../fakes/comfyui.ts';
import { waitFor } from '../../support/wait-for.ts';
import { clientFor } from '../provider-client.ts';

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

type Stage = { readonly provider: (graph: typeof workflow) => PolledProvider; readonly comfyui: FakeComfyui };
export type Server = {
  readonly stage: Stage;
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export const config = { upstreamModel: 'wan', options: { parameters: { fps: 16 } } };
export const common = { name: 'comfy', pollsPerSecond: 14, submitTimeoutMs: 60_000, warn: () => undefined };

export const kinds: readonly { name: 'comfyui' | 'comfy-v2'; skip: string | false; start: () => Promise<Server> }[] = [
  {
    name: 'comfyui',
    skip: false,
    start: async () => {
      const comfyui = await startFakeComfyui();
      const baseUrl = `http://${comfyui.address}`;
      const provider = (graph: typeof workflow) =>
        createComfyuiProvider({
          ...common,
          config: { kind: 'comfyui', baseUrl, ...config },
          workflow: () => graph,
          client: clientFor(baseUrl),
        });
      return { stage: { provider, comfyui }, restart: () => comfyui.restart(), close: () => comfyui.close() };
    },
  },
  {
    name: 'comfy-v2',
    skip: skipWithoutComfyProxy,
    start: async () => {
      const proxy = await startComfyProxy(token);
      const baseUrl = `http://${proxy.address}`;
      const provider = (graph: typeof workflow) =>
        createComfyV2Provider({
          ...common,
          config: { kind: 'comfy-v2', baseUrl, ...config },
          workflow: () => graph,
          client: clientFor(baseUrl, token),
        });
      return {
        stage: { provider, comfyui: proxy.comfyui },
        restart: () => proxy.restart(),
        close: () => proxy.close(),
      };
    },
  },
];

/** A connection from before a restart breaks, which is no verdict. */
export async function statusOf(provider: PolledProvider, job: Job) {
  const { signal } = new AbortController();
  return await waitFor('a verdict', async () => {
    const status = (await provider.status([job], signal)).get(job.jobKey);
    return status?.state === 'unclear' ? undefined : status;
  });
}
