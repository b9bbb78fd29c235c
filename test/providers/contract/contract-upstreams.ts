import assert from 'node:assert/strict';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import { skipWithoutPython, startExampleUpstream } from '../../fakes/example-upstream.ts';
import { catalogueOf, type Kind, kinds, upstreamKey, workflow } from '../../fakes/provider-kinds.ts';
import { startVideosUpstream } from '../../fakes/openai-videos-upstream.ts';
import { localClient } from '../loopback-client.ts';
import { catalogueFrom, openProviders } from '../open-providers-stage.ts';

// The upstreams of the contract's tests.

/** A request that its API lacks, or never answers clearly. */
export type Lack = 'look-up' | 'cancellation' | 'denial of a job';

export type Upstream = Kind & {
  readonly name: string;
  readonly provider: (root: string) => PolledProvider;
  readonly lacks: readonly Lack[];
  /** A restart of an upstream that forgets its jobs loses the videos of ended ones, too. */
  readonly losesVideos: boolean;
};

const own = kinds.get('own');
assert.ok(own);

function videos(dialect: 'sglang' | 'openrouter', forgets: { readonly forgets?: true }): Kind {
  return {
    settings: { kind: 'openai-videos', dialect },
    path: '/v1',
    start: () => startVideosUpstream(dialect, upstreamKey),
    isCreate: ({ method }) => method === 'POST',
    lostJobs: 'lost',
    ...forgets,
  };
}

const all: readonly (readonly [string, Kind])[] = [
  ...kinds,
  ['example', { ...own, skip: skipWithoutPython, start: () => startExampleUpstream({ key: upstreamKey }) }],
  ['sglang', videos('sglang', { forgets: true })],
  ['openrouter-videos', videos('openrouter', {})],
];

const withoutCancellation = ['kie', 'openrouter', 'minimax', 'kling', 'wan', 'luma', 'pixverse', 'xai', 'veo'].concat([
  'sglang',
  'openrouter-videos',
]);
const withoutDenial = ['minimax', 'xai'];

function lacksOf(name: string, { lostJobs }: Kind): readonly Lack[] {
  return [
    ...(lostJobs === 'lost' ? (['look-up'] as const) : []),
    ...(withoutCancellation.includes(name) ? (['cancellation'] as const) : []),
    ...(withoutDenial.includes(name) ? (['denial of a job'] as const) : []),
  ];
}

/** Opens the provider as a worker does. */
function open(name: string, kind: Kind, root: string): PolledProvider {
  const catalogue = catalogueFrom(catalogueOf([{ name, kind, baseUrl: root, submitSeconds: 600 }]), {
    'workflow.json': workflow,
  });
  const [entry] = catalogue.models.get(name)?.tiers.flat() ?? [];
  assert.ok(entry);
  const provider = openProviders(() => catalogue, localClient, upstreamKey).ofEntry(entry)?.provider;
  assert.ok(provider?.runs === 'upstream');
  return provider;
}

export const upstreams: readonly Upstream[] = all
  // Held providers have tests of their own.
  .filter(([name]) => name !== 'cog')
  .map(([name, kind]) => ({
    ...kind,
    name,
    provider: (root) => open(name, kind, root),
    lacks: lacksOf(name, kind),
    losesVideos: name === 'vllm' || name === 'sglang',
  }));
