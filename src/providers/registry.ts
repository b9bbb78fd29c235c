import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { CostRule } from '../models/catalogue/cost.ts';
import type { Catalogue, TierEntry } from '../models/catalogue/models.ts';
import type { SecretReader } from '../models/catalogue/providers.ts';
import { adapterOf, type DeclaredSettings } from './adapters.ts';
import type { FrozenConfig, HeldProvider, Provider, UpstreamClient, Warn } from './contract.ts';
import { createPoller, createPollRate, type Poller, type PollerDeps, type PollRate } from './poller.ts';
import { type ProviderEvent, reportDownloads } from './provider-events.ts';
import type { ProviderTest } from '../tasks/ports.ts';
import { testProvider } from './provider-test.ts';

// Opens the providers of the catalogue, and those of jobs from their frozen configurations.

/** Frozen with a job: the configuration of its upstream, and the terms for its failure, loss and cost. */
export type JobTerms = FrozenConfig & {
  readonly failedJobs: 'free' | 'billed';
  readonly onLostAnswer: 'fail' | 'resubmit';
  readonly onRefusedOutput?: 'resubmit';
  readonly cost?: CostRule;
};

export type OpenProvider = {
  readonly provider: Provider;
  readonly terms: JobTerms;
  /** The stored form of the terms, and its SHA-256. */
  readonly stored: { readonly text: string; readonly hash: string };
  /** This worker shares polls between all jobs with these terms. */
  readonly follow: Poller['follow'];
  /** The provider's form of references to images; undefined leaves prompts unchanged. */
  readonly imageReference?: string | undefined;
};

export type Providers = {
  /** Opens the provider of an entry; undefined when the catalogue in force has none with its name. */
  readonly ofEntry: (entry: TierEntry) => OpenProvider | undefined;
  /** Opens the provider of a job; undefined when its name has left the catalogue or belongs to another upstream now. */
  readonly ofJob: (job: { readonly provider: string; readonly config: unknown }) => OpenProvider | undefined;
};

/** Sends one request that costs nothing to the provider of an entry. */
export type TestProvider = (entry: TierEntry, signal: AbortSignal) => Promise<ProviderTest>;

export type ProvidersDeps = {
  readonly catalogue: () => Catalogue;
  readonly preview: HeldProvider;
  readonly readSecret: SecretReader;
  /** Opens a client for one upstream, which creates the credentials for each request. */
  readonly openClient: (upstream: {
    readonly baseUrl: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly credentials: () => Readonly<Record<string, string>>;
    readonly secretQuery: () => Readonly<Record<string, string>>;
    readonly keyOrigins: readonly string[];
  }) => UpstreamClient;
  readonly warn: (event: string, fields: { readonly provider: string; readonly detail: string }) => void;
  readonly emit: (event: ProviderEvent) => void;
};

/** More than any catalogue has, including former configurations of jobs that are still followed. */
const maxOpen = 2_000;

export function createProviders(deps: ProvidersDeps): Providers & { readonly test: TestProvider } {
  const opened = new LRUCache<string, OpenProvider>({ max: maxOpen });
  const tests = new WeakMap<OpenProvider, (signal: AbortSignal) => Promise<ProviderTest>>();
  const rates = new Map<string, PollRate>();
  const settingsOf = (name: string) => deps.catalogue().providers.get(name);

  function open(name: string, settings: DeclaredSettings, terms: JobTerms): OpenProvider | undefined {
    // A name with another kind now is another upstream.
    if (settings.kind !== terms.kind) return undefined;
    const adapter = adapterOf(settings.kind);
    const text = JSON.stringify(terms);
    // Some settings in force apply to earlier jobs, too.
    const key = JSON.stringify([name, text, settings]);
    const known = opened.get(key);
    if (known !== undefined) return known;
    const warn: Warn = (event, detail) => deps.warn(event, { provider: name, detail });
    const { kind, baseUrl, upstreamModel, options, cost } = terms;
    const config = { kind, baseUrl, upstreamModel, options };
    const headers = adapter.headers?.(config) ?? {};
    const plain = deps.openClient({
      baseUrl,
      headers,
      credentials: () => credentialsOf(name, config),
      secretQuery: () => adapter.secretQuery?.(config, settingsInForce(name, config), deps.readSecret) ?? {},
      keyOrigins: adapter.keyOrigins?.(config) ?? [],
    });
    const client = reportDownloads(plain, name, deps.emit);
    const files = () => deps.catalogue().files;
    const agreed = cost === undefined ? {} : { cost };
    const opening = { name, config, settings, files, warn, ...agreed };
    const provider = adapter.open({ ...opening, client });
    const { imageReference } = settings;
    const onPoll: PollerDeps['onPoll'] = (outcome) => deps.emit({ kind: 'provider_poll', provider: name, outcome });
    const rate = rates.get(name) ?? createPollRate();
    rates.set(name, rate);
    const one = openProvider(provider, terms, { rate, warn, onPoll, imageReference });
    opened.set(key, one);
    tests.set(one, (signal) =>
      testProvider(plain, (observed) => adapter.open({ ...opening, client: observed }), signal),
    );
    return one;
  }

  function settingsInForce(name: string, config: FrozenConfig): DeclaredSettings {
    const settings = settingsOf(name);
    if (settings === undefined || settings.kind === 'preview' || !isSameOrigin(settings.baseUrl, config.baseUrl))
      throw new Error(`provider ${name} is another upstream now`);
    return settings;
  }

  /** Returns the key in force, so that it can be rotated, but never that of another upstream. */
  function credentialsOf(name: string, config: FrozenConfig): Readonly<Record<string, string>> {
    const settings = settingsInForce(name, config);
    const { credentials } = adapterOf(settings.kind);
    if (credentials !== undefined) return credentials(config, settings, deps.readSecret)();
    if (settings.key === undefined) return {};
    return { authorization: `Bearer ${deps.readSecret(settings.key)()}` };
  }

  const preview = openProvider(deps.preview, { ...deps.preview.config, failedJobs: 'free', onLostAnswer: 'resubmit' });
  const ofEntry: Providers['ofEntry'] = (entry) => {
    const { provider: name, upstreamModel } = entry;
    const settings = settingsOf(name);
    if (settings === undefined) return undefined;
    if (settings.kind === 'preview') return preview;
    const { kind, baseUrl, failedJobs, onLostAnswer } = settings;
    const options = adapterOf(kind).options(entry, settings, deps.catalogue().files);
    const { cost, onRefusedOutput } = entry;
    const optional = {
      ...(cost !== undefined && { cost }),
      ...(onRefusedOutput !== undefined && { onRefusedOutput }),
    };
    return open(name, settings, { kind, baseUrl, upstreamModel, options, failedJobs, onLostAnswer, ...optional });
  };
  return {
    ofEntry,
    test: async (entry, signal) => {
      const one = ofEntry(entry);
      // A worker that runs this can generate previews, and there is nothing to request.
      if (one === preview) return { outcome: 'ok' };
      const test = one && tests.get(one);
      return test === undefined
        ? { outcome: 'not_tested', detail: 'not in the catalogue in force' }
        : await test(signal);
    },
    ofJob: ({ provider: name, config }) => {
      if (name === deps.preview.name) return preview;
      const settings = settingsOf(name);
      const { data: terms } = termsSchema.safeParse(config);
      if (settings === undefined || settings.kind === 'preview' || terms === undefined) return undefined;
      return isSameOrigin(settings.baseUrl, terms.baseUrl) ? open(name, settings, terms) : undefined;
    },
  };
}

type OpenOptions = Partial<Pick<PollerDeps, 'rate' | 'warn' | 'onPoll'>> & Pick<OpenProvider, 'imageReference'>;

/** Creates the poller with the first job. */
export function openProvider(
  provider: Provider,
  terms: JobTerms,
  { rate = createPollRate(), warn = () => {}, onPoll = () => {}, imageReference }: OpenOptions = {},
): OpenProvider {
  const text = JSON.stringify(terms);
  let poller: Poller | undefined;
  return {
    provider,
    terms,
    stored: { text, hash: hash('sha256', text) },
    imageReference,
    follow: async (job, options) => {
      if (provider.runs !== 'upstream') throw new Error(`jobs of ${provider.name} cannot be polled`);
      poller ??= createPoller({ provider, rate, warn, onPoll });
      return await poller.follow(job, options);
    },
  };
}

/** Written by us; further fields may matter to the adapter. */
const termsSchema: z.ZodType<JobTerms> = z.custom<JobTerms>((value) => frozenSchema.safeParse(value).success);
const frozenSchema = z.looseObject({
  kind: z.string(),
  baseUrl: z.string(),
  upstreamModel: z.string(),
  options: z.record(z.string(), z.json()),
  failedJobs: z.enum(['free', 'billed']),
  onLostAnswer: z.enum(['fail', 'resubmit']),
});

function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
