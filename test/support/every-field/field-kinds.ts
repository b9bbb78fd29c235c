import { startArkUpstream } from '../../fakes/ark-upstream.ts';
import { skipWithoutCog, startCogUpstream } from '../../fakes/cog/cog-server.ts';
import { skipWithoutComfyProxy, startComfyProxy } from '../../fakes/comfy/comfy-api-proxy.ts';
import { type FakeComfyui, startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { upstreamKey } from '../../fakes/provider-kinds.ts';
import { startOwnUpstream } from '../../fakes/own-upstream.ts';
import { startScriptedUpstream } from '../../fakes/provider-file-upstream.ts';
import type { RunningUpstream } from '../../fakes/upstream-books.ts';
import { startVideosUpstream } from '../../fakes/openai-videos-upstream.ts';
import { shippedFile } from '../../providers/http/shipped-file.ts';
import type { DialectName } from '../../../src/providers/openai-videos/videos-dialects.ts';
import { type Media, nameOfSize, withNames } from './every-field.ts';
import { ark, fal, type FieldTask, formTasks, openrouter, own, upstreamModel, vllm, wan } from './expected-requests.ts';
import { cogTask, graphTask, template } from './expected-template-requests.ts';

// Every kind of provider with an upstream, and with the requests that the upstream gets for the fields of `everyField`.

type Started = {
  readonly upstream: RunningUpstream;
  /** Returns the newest create. */
  readonly received: () => Promise<unknown>;
};

export type FieldKind = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly upstreamModel?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** After the address. */
  readonly path?: string;
  readonly skip?: string | false;
  readonly start: (media: Media) => Promise<Started>;
  /** Fields that exclude each other are in tasks of their own. */
  readonly tasks: readonly FieldTask[];
};

async function startArk(media: Media): Promise<Started> {
  const upstream = await startArkUpstream({ key: upstreamKey });
  const received = async () => {
    // The account and the deadline are not fields of the input.
    const decided = Object.entries(upstream.creates.at(-1) ?? {}).filter(([name]) => !/^(?:safety|exec)/.test(name));
    return await withNames(Object.fromEntries(decided), media);
  };
  return { upstream, received };
}

function videos(dialect: DialectName, tasks: readonly FieldTask[], model = upstreamModel): FieldKind {
  return {
    settings: { kind: 'openai-videos', dialect },
    upstreamModel: model,
    path: '/v1',
    start: async (media) => {
      const upstream = await startVideosUpstream(dialect, upstreamKey);
      return { upstream, received: () => formWithNames(upstream.creates.at(-1)?.fields ?? {}, media) };
    },
    tasks,
  };
}

/** The fields of a form or of JSON. The upstream records the sizes of files. */
async function formWithNames(fields: Readonly<Record<string, unknown>>, media: Media): Promise<unknown> {
  const { extra_params: extra } = fields;
  const files = Object.entries(fields).filter(([name]) => /^input_references?$/.test(name));
  const named = files.flatMap(([name, value]): (readonly [string, unknown])[] => {
    if (typeof value === 'number') return [[name, nameOfSize(value, media)]];
    const isFiles = Array.isArray(value) && value.every((one) => typeof one === 'number');
    return isFiles ? [[name, value.map((one) => nameOfSize(one, media))]] : [];
  });
  const decoded = typeof extra === 'string' ? { extra_params: JSON.parse(extra) as unknown } : {};
  return await withNames({ ...fields, ...decoded, ...Object.fromEntries(named) }, media);
}

function graphOf(comfyui: FakeComfyui, media: Media) {
  comfyui.classes.set('EveryField', []);
  return () =>
    withNames(comfyui.graphs.at(-1), media, (name) =>
      comfyui.images.has(name) ? nameOfSize(comfyui.images.get(name), media) : undefined,
    );
}

function shipped(name: string, model: string, tasks: readonly FieldTask[]): FieldKind {
  return {
    settings: { kind: 'http', file: `builtin:${name}` },
    upstreamModel: model,
    start: async (media) => {
      const upstream = await startScriptedUpstream(shippedFile(name));
      return { upstream, received: () => withNames(upstream.creates.at(-1), media) };
    },
    tasks,
  };
}

/** By the name of the provider. `preview` has no upstream. */
export const fieldKinds: Readonly<Record<string, FieldKind>> = {
  own: {
    settings: { kind: 'own' },
    start: async (media) => {
      const upstream = await startOwnUpstream({ key: upstreamKey });
      return { upstream, received: () => withNames(upstream.bodies.at(-1), media) };
    },
    tasks: [own],
  },
  ark: { settings: { kind: 'ark' }, start: startArk, tasks: ark },
  'vllm-omni': videos('vllm-omni', vllm, 'MiniMax-H3'),
  sglang: videos('sglang', formTasks({ negativePrompt: { negative_prompt: 'fog' }, seed: { seed: '42' } })),
  openrouter: videos('openrouter', openrouter),
  generic: videos('generic', formTasks({})),
  comfyui: {
    settings: { kind: 'comfyui' },
    parameters: { workflow: './workflow.json', fps: 16 },
    start: async (media) => {
      const upstream = await startFakeComfyui();
      return { upstream, received: graphOf(upstream, media) };
    },
    tasks: [graphTask((_type, name) => `file ${name}`)],
  },
  'comfy-v2': {
    settings: { kind: 'comfy-v2' },
    parameters: { workflow: './workflow.json', fps: 16 },
    skip: skipWithoutComfyProxy,
    start: async (media) => {
      const upstream = await startComfyProxy(upstreamKey);
      return { upstream, received: graphOf(upstream.comfyui, media) };
    },
    tasks: [graphTask((_type, name) => `file ${name}`)],
  },
  cog: {
    settings: { kind: 'cog' },
    parameters: { input: { prompt: '{{prompt}}', ...template } },
    skip: skipWithoutCog,
    start: async (media) => {
      const upstream = await startCogUpstream();
      return { upstream, received: async () => withNames((await upstream.inputs()).at(-1), media) };
    },
    tasks: [cogTask],
  },
  fal: shipped('fal-seedance', 'bytedance/seedance-2.0', fal),
  wan: shipped('wan', 'wan2.7', wan),
};
