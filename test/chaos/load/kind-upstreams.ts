import { type FaultProxy, startFaultProxy } from '../../fakes/fault-proxy.ts';
import { type Kind, kinds, type PlacedKind, upstreamKey } from '../../fakes/provider-kinds.ts';
import { startOwnUpstream } from '../../fakes/own-upstream.ts';
import type { BookedJob, RunningUpstream } from '../../fakes/upstream-books.ts';
import { type ShortfallPolicy, shortfallPolicies } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { creditsPerSecond, type FilmPaths } from '../faults/short-results.ts';

// An upstream of each kind of provider, each behind a network of its own that can be broken. They live in the breaker's process or in
// processes of their own, and keep books. One more upstream has a model with a short deadline, for jobs that run until they are canceled.
// The last three deliver other films than were ordered, to models of every policy for shortfalls.

export type KindUpstream = {
  /** The name of the provider and of its model. */
  readonly name: string;
  readonly kind: Kind;
  readonly upstream: RunningUpstream;
  readonly proxy: FaultProxy;
  readonly isHasty: boolean;
  /** What its model declares; undefined unless it delivers other films than were ordered. */
  readonly shortfall: ShortfallPolicy | undefined;
};

export type KindUpstreams = {
  readonly each: readonly KindUpstream[];
  readonly placed: readonly PlacedKind[];
  /** Every job that each of them ever began. */
  jobs(): Promise<ReadonlyMap<string, readonly BookedJob[]>>;
  close(): Promise<void>;
};

export const kindCreditsPerSecond = 3;
/** In a prompt: the job fails. */
export const failingWord = 'refuse';
/** In a prompt: the job runs until it is canceled. */
export const endlessWord = 'endless';
/** As far as nothing is lost; some take longer, so that jobs overlap. */
const jobMs = [500, 1_000, 2_000, 6_000] as const;
const endEveryMs = 250;

type Special = { readonly isHasty?: boolean; readonly shortfall?: ShortfallPolicy };

/** Starts all kinds whose upstreams can be started on this machine. */
export async function startKindUpstreams(videoOf: FilmPaths): Promise<KindUpstreams> {
  const wanted = [...kinds].filter(([, { skip = false }]) => skip === false);
  const own = kinds.get('own');
  if (own === undefined) throw new Error('there is no kind of our own protocol');
  const start = async (name: string, kind: Kind, { isHasty = false, shortfall }: Special = {}) => {
    const upstream = await kind.start();
    return { name, kind, upstream, proxy: await startFaultProxy(upstream), isHasty, shortfall };
  };
  const unlikeOrders: Kind = { ...own, start: () => startOwnUpstream({ key: upstreamKey, videoOf }) };
  const each: readonly KindUpstream[] = await Promise.all([
    ...wanted.map(([name, kind]) => start(name, kind)),
    start('own-hasty', own, { isHasty: true }),
    ...shortfallPolicies.map((shortfall) => start(`own-short-${shortfall}`, unlikeOrders, { shortfall })),
  ]);
  const timer = setInterval(() => void endJobs(each), endEveryMs);
  return {
    each,
    placed: each.map(({ name, kind, proxy: { baseUrl }, isHasty, shortfall }) => ({
      name,
      kind,
      baseUrl,
      // One prediction at a time is all that its server takes.
      limit: kind.endsAlone === true ? 1 : 8,
      deadlineSeconds: isHasty ? 12 : 600,
      submitSeconds: 5,
      ...pricesFor(shortfall),
    })),
    jobs: async () =>
      new Map(await Promise.all(each.map(async ({ name, upstream }) => [name, await upstream.books.jobs()] as const))),
    close: async () => {
      clearInterval(timer);
      await Promise.all(each.map(({ proxy }) => proxy.close()));
      await Promise.all(each.map(({ upstream }) => upstream.close()));
    },
  };
}

function pricesFor(shortfall: ShortfallPolicy | undefined) {
  if (shortfall === undefined) return { creditsPerSecond: kindCreditsPerSecond };
  const { withSound, silent } = creditsPerSecond;
  return { shortfall, creditsPerSecond: withSound, silentCreditsPerSecond: silent };
}

const begunAt = new Map<string, number>();

/** Ends jobs after their time, however much is broken around them. */
async function endJobs(each: readonly KindUpstream[]): Promise<void> {
  for (const { upstream } of each) {
    const running = (await upstream.books.jobs()).filter(({ state }) => state === 'running');
    for (const { id, prompt } of running) {
      const since = begunAt.get(id) ?? Date.now();
      begunAt.set(id, since);
      if (prompt.includes(endlessWord)) continue;
      const lifeMs = jobMs[prompt.length % jobMs.length] ?? 0;
      if (Date.now() - since < lifeMs) continue;
      await upstream.books.end(id, prompt.includes(failingWord) ? 'failed' : 'succeeded');
    }
  }
}
