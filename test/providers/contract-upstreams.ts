import type { FrozenConfig, Provider } from '../../src/providers/contract.ts';
import { createComfyV2Provider } from '../../src/providers/comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from '../../src/providers/comfy/comfyui-provider.ts';
import { createHttpProvider } from '../../src/providers/http/http-provider.ts';
import type { DialectName } from '../../src/providers/openai-videos/dialects.ts';
import { createVideosProvider } from '../../src/providers/openai-videos/videos-provider.ts';
import { createOwnProvider } from '../../src/providers/own/own-provider.ts';
import { startArkUpstream } from '../fakes/ark.ts';
import { skipWithoutComfyProxy, startComfyProxy } from '../fakes/comfy-api-proxy.ts';
import { startFakeComfyui } from '../fakes/comfyui.ts';
import { skipWithoutPython, startExampleUpstream } from '../fakes/example-upstream.ts';
import { startOwnUpstream } from '../fakes/own-upstream.ts';
import { startScriptedUpstream } from '../fakes/scripted-http.ts';
import type { RunningUpstream } from '../fakes/upstream-books.ts';
import { startVideosUpstream } from '../fakes/videos.ts';
import { arkProvider } from './ark/ark-stage.ts';
import { shippedFile } from './http/shipped-file.ts';
import { clientFor } from './provider-client.ts';

// The upstreams that every story of the contract is played with.

const key = 'test-key';

/** A request that its API lacks, or never answers clearly. */
export type Lack = 'look-up' | 'cancellation' | 'denial of a job';

export type Upstream = {
  readonly name: string;
  /** As in test/fakes/kinds.ts, where the sample of the fast and the full tier is declared. */
  readonly kind: string;
  readonly skip?: false | string;
  readonly start: () => Promise<RunningUpstream>;
  readonly provider: (baseUrl: string) => Provider;
  /** The request that makes the job, among those that `submit` sends. */
  readonly isCreate: (request: { readonly method: string; readonly path: string }) => boolean;
  readonly lacks?: readonly Lack[];
  /** Its jobs are in its memory and die with it, and their videos with them or not; another job is made for the task then. */
  readonly forgets?: 'jobs' | 'jobs and videos';
  /** It runs a name as often as it is sent. */
  readonly repeats?: true;
};

const own = (baseUrl: string) =>
  createOwnProvider({
    name: 'own',
    config: { kind: 'own', baseUrl, upstreamModel: 'model', options: {} },
    client: clientFor(baseUrl, key),
    pollsPerSecond: 14,
    submitTimeoutMs: 600_000,
    warn: () => undefined,
  });
const isPut = ({ method }: { readonly method: string }) => method === 'PUT';

/** One of the files that come with the kind `http`. */
function http(file: string, changes: Partial<Upstream> = {}): Upstream {
  const read = shippedFile(file);
  const provider = (baseUrl: string) =>
    createHttpProvider({
      name: file,
      config: { kind: 'http', baseUrl, upstreamModel: read.example.model, options: {} },
      file: read,
      client: clientFor(baseUrl, key),
      pollsPerSecond: 14,
      submitTimeoutMs: 600_000,
      warn: () => undefined,
    });
  const isCreate: Upstream['isCreate'] = ({ method, path }) => method === 'POST' && !/\/(?:cancel|upload)$/.test(path);
  return {
    name: `http, ${file}`,
    kind: file,
    start: () => startScriptedUpstream(read),
    provider,
    isCreate,
    ...changes,
  };
}

const common = { name: 'upstream', pollsPerSecond: 14, submitTimeoutMs: 600_000, warn: () => undefined };

function videos(kindName: string, dialect: DialectName, changes: Partial<Upstream>): Upstream {
  const provider = (root: string) => {
    const baseUrl = `${root}/v1`;
    const config = { kind: 'openai-videos', baseUrl, upstreamModel: 'model', options: { dialect } } as const;
    return createVideosProvider({ ...common, config, client: clientFor(baseUrl, key) });
  };
  const start = () => startVideosUpstream(dialect, key);
  return {
    name: `openai-videos, ${dialect}`,
    kind: kindName,
    start,
    provider,
    isCreate: ({ method }) => method === 'POST',
    ...changes,
  };
}

function comfy(kind: 'comfyui' | 'comfy-v2', baseUrl: string) {
  const workflow = {
    '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
    '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
  };
  const config: FrozenConfig = { kind, baseUrl, upstreamModel: 'model', options: {} };
  return { config, workflow: () => workflow, client: clientFor(baseUrl, key) };
}

export const upstreams: readonly Upstream[] = [
  { name: 'own', kind: 'own', start: () => startOwnUpstream({ key }), provider: own, isCreate: isPut },
  {
    name: 'own, with the example server',
    kind: 'example',
    skip: skipWithoutPython,
    start: () => startExampleUpstream({ key }),
    provider: own,
    isCreate: isPut,
  },
  {
    name: 'ark',
    kind: 'ark',
    start: () => startArkUpstream({ key }),
    provider: (baseUrl) => arkProvider(baseUrl, { submitTimeoutMs: 600_000 }),
    isCreate: ({ method }) => method === 'POST',
  },
  http('kie', { lacks: ['look-up', 'cancellation'] }),
  http('fal-seedance', { lacks: ['look-up'] }),
  http('replicate-seedance'),
  http('openrouter', { lacks: ['look-up', 'cancellation'] }),
  http('minimax', { lacks: ['look-up', 'cancellation', 'denial of a job'] }),
  http('kling', { lacks: ['cancellation'] }),
  http('runway', { lacks: ['look-up'] }),
  http('wan', { lacks: ['look-up', 'cancellation'] }),
  http('luma', { lacks: ['look-up', 'cancellation'] }),
  http('vidu', { lacks: ['look-up'] }),
  http('pixverse', { lacks: ['look-up', 'cancellation'] }),
  http('xai', { lacks: ['look-up', 'cancellation', 'denial of a job'] }),
  http('veo', { lacks: ['look-up', 'cancellation'] }),
  videos('vllm', 'vllm-omni', { forgets: 'jobs and videos' }),
  videos('sglang', 'sglang', { forgets: 'jobs and videos', lacks: ['look-up', 'cancellation'] }),
  videos('openrouter-videos', 'openrouter', { lacks: ['look-up', 'cancellation'] }),
  {
    name: 'comfyui',
    kind: 'comfyui',
    start: startFakeComfyui,
    provider: (baseUrl) => createComfyuiProvider({ ...common, ...comfy('comfyui', baseUrl) }),
    isCreate: ({ path }) => path === '/prompt',
    forgets: 'jobs',
    repeats: true,
  },
  {
    name: 'comfy-v2',
    kind: 'comfy-v2',
    skip: skipWithoutComfyProxy,
    start: () => startComfyProxy(key),
    provider: (baseUrl) => createComfyV2Provider({ ...common, ...comfy('comfy-v2', baseUrl) }),
    isCreate: ({ method, path }) => method === 'POST' && path === '/api/v2/jobs',
  },
];
