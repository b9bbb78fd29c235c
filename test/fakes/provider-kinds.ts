import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ShortfallPolicy } from '../../src/catalogue/models/model-type-and-name-lookup.ts';
import { shippedFile } from '../providers/http/shipped-file.ts';
import { runsWholeMatrix } from '../support/tier.ts';
import { startArkUpstream } from './ark-upstream.ts';
import { skipWithoutCog, startCogUpstream } from './cog/cog-server.ts';
import { skipWithoutComfyProxy, startComfyProxy } from './comfy/comfy-api-proxy.ts';
import { startFakeComfyui } from './comfy/comfyui.ts';
import { startOwnUpstream } from './own-upstream.ts';
import { startScriptedUpstream } from './provider-file-upstream.ts';
import type { RunningUpstream } from './upstream-books.ts';
import { startVideosUpstream } from './openai-videos-upstream.ts';

// Every kind of provider with an upstream to test it with: its entry in a catalogue, and what its API can do.

export const upstreamKey = 'the key of the upstreams';

export type Kind = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly upstreamModel?: string;
  /** After the address. */
  readonly path?: string;
  readonly skip?: string | false;
  readonly start: () => Promise<RunningUpstream>;
  /** The request that makes a job. */
  readonly isCreate: (request: { readonly method: string; readonly path: string }) => boolean;
  /**
   * A create without a response: `named` jobs are found, or are certainly not there; `listed` ones are found when
   * they are there; `lost` ones never.
   */
  readonly lostJobs: 'named' | 'listed' | 'lost';
  /** The jobs are in its memory, and die with it. */
  readonly forgets?: true;
  /** It runs a name as often as it is sent. */
  readonly repeats?: true;
  /** Only the model itself ends its jobs. */
  readonly endsAlone?: true;
};

export const workflow = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
  '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
};
const withWorkflow = { parameters: { workflow: './workflow.json', fps: 16 } };
const secrets = { accessKey: { file: './key' }, secretKey: { file: './key' } };
const isPost: Kind['isCreate'] = ({ method, path }) => method === 'POST' && !/\/(?:cancel|upload)$/.test(path);

/** One of the files that come with the kind `http`. */
function shipped(
  name: string,
  lostJobs: Kind['lostJobs'],
  { upstreamModel, ...settings }: { readonly upstreamModel?: string; readonly secrets?: object } = {},
): readonly [string, Kind] {
  const file = shippedFile(name);
  const kind: Kind = {
    settings: { kind: 'http', file: `builtin:${name}`, ...settings },
    upstreamModel: upstreamModel ?? file.example.model,
    start: () => startScriptedUpstream(file),
    isCreate: isPost,
    lostJobs,
  };
  return [name, kind];
}

export const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  [
    'own',
    {
      settings: { kind: 'own' },
      start: () => startOwnUpstream({ key: upstreamKey }),
      isCreate: ({ method }) => method === 'PUT',
      lostJobs: 'named',
    },
  ],
  [
    'ark',
    {
      settings: { kind: 'ark' },
      start: () => startArkUpstream({ key: upstreamKey }),
      isCreate: isPost,
      lostJobs: 'listed',
    },
  ],
  [
    'vllm',
    {
      settings: { kind: 'openai-videos', dialect: 'vllm-omni' },
      path: '/v1',
      start: () => startVideosUpstream('vllm-omni', upstreamKey),
      isCreate: isPost,
      lostJobs: 'listed',
      forgets: true,
    },
  ],
  [
    'comfyui',
    {
      settings: { kind: 'comfyui' },
      ...withWorkflow,
      start: startFakeComfyui,
      isCreate: ({ path }) => path === '/prompt',
      lostJobs: 'named',
      forgets: true,
      repeats: true,
    },
  ],
  [
    'comfy-v2',
    {
      settings: { kind: 'comfy-v2' },
      ...withWorkflow,
      skip: skipWithoutComfyProxy,
      start: () => startComfyProxy(upstreamKey),
      isCreate: ({ method, path }) => method === 'POST' && path === '/api/v2/jobs',
      lostJobs: 'named',
    },
  ],
  [
    'cog',
    {
      settings: { kind: 'cog' },
      parameters: { input: { prompt: '{{prompt}}', frames: '{{frames:4}}', seed: '{{seed}}' } },
      skip: skipWithoutCog,
      start: startCogUpstream,
      isCreate: ({ method }) => method === 'PUT',
      lostJobs: 'named',
      forgets: true,
      repeats: true,
      endsAlone: true,
    },
  ],
  shipped('kie', 'lost'),
  shipped('fal-seedance', 'lost'),
  shipped('replicate-seedance', 'listed'),
  shipped('openrouter', 'lost'),
  // The models of their examples make no videos of four or five seconds, as the tests want them.
  shipped('minimax', 'lost', { upstreamModel: 'upstream-model' }),
  shipped('kling', 'listed', { secrets, upstreamModel: 'kling-v3' }),
  shipped('runway', 'lost'),
  shipped('wan', 'lost'),
  shipped('luma', 'lost', { upstreamModel: 'upstream-model' }),
  shipped('vidu', 'lost'),
  shipped('pixverse', 'lost'),
  shipped('xai', 'lost'),
  shipped('veo', 'lost', { upstreamModel: 'upstream-model' }),
]);

/** Which kinds stand for all outside the long tier. */
const samples = {
  /** One of each API family: what all adapters of a family share is tested once. */
  families: ['own', 'ark', 'kie', 'replicate-seedance', 'vllm', 'comfyui'],
  /** One for each of the kinds of `lostJobs`, and one whose jobs are held until their end. */
  lostJobs: ['own', 'ark', 'kie', 'cog'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** True when this run plays the kind: the long tier plays every kind, the others a sample. */
export function isSampled(kindName: string, of: keyof typeof samples): boolean {
  const names: readonly string[] = samples[of];
  return runsWholeMatrix || names.includes(kindName);
}

export type PlacedKind = {
  /** The name of the provider and of its model. */
  readonly name: string;
  readonly kind: Kind;
  readonly baseUrl: string;
  readonly limit?: number;
  readonly deadlineSeconds?: number;
  readonly creditsPerSecond?: number;
  /** The price without sound, if it is another one. */
  readonly silentCreditsPerSecond?: number;
  /** `accept` by default, because the fakes deliver the same film for every order. */
  readonly shortfall?: ShortfallPolicy;
  readonly submitSeconds?: number;
};

/** A provider for each kind, and a model that it alone generates; as JSON, beside the files of `writeKindFiles`. */
export function catalogueOf(placed: readonly PlacedKind[]) {
  const providers = placed.map(({ name, kind, baseUrl, limit, submitSeconds }): [string, object] => {
    const { settings, path = '', endsAlone = false } = kind;
    const timeouts = submitSeconds === undefined || endsAlone ? {} : { timeouts: { submitSeconds } };
    const places = limit === undefined ? {} : { limit };
    return [name, { ...settings, ...places, ...timeouts, baseUrl: baseUrl + path, key: { file: './key' } }];
  });
  const models = placed.map(({ name, kind, deadlineSeconds, shortfall = 'accept', ...one }) => {
    const { upstreamModel = 'upstream-model', parameters = {} } = kind;
    const tiers = [[{ provider: name, model: upstreamModel, parameters }]];
    const deadline = deadlineSeconds === undefined ? {} : { deadlineSeconds };
    const { creditsPerSecond = 7, silentCreditsPerSecond: silent } = one;
    const silentPrices = silent === undefined ? [] : [{ when: { generateAudio: false }, creditsPerSecond: silent }];
    const prices = [...silentPrices, { creditsPerSecond }];
    return { model: name, title: name, prices, shortfall, ...deadline, tiers };
  });
  return { providers: Object.fromEntries(providers), models };
}

/** Writes the files that a catalogue of kinds refers to. */
export async function writeKindFiles(folder: string): Promise<void> {
  await writeFile(join(folder, 'key'), `${upstreamKey}\n`);
  await writeFile(join(folder, 'workflow.json'), JSON.stringify(workflow));
}
