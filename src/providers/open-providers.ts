import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Catalogue, TierEntry } from '../catalogue/file/catalogue-schema-and-types.ts';
import type { SecretReader } from '../catalogue/file/provider-schema.ts';
import { type Adapter, adapterOf, type SettingsExceptPreview } from './adapters.ts';
import type {
  FrozenConfig,
  RunProvider,
  FrozenJobTerms,
  Provider,
  HeadersAndCredentials,
  UpstreamClient,
  Warn,
} from './provider-contract.ts';
import {
  createSharedJobPoller,
  createPollReservations,
  type SharedJobPoller,
  type PollerDeps,
  type ReservePollTime,
} from './jobs/shared-job-poller.ts';
import { type ProviderEvent, clientWithDownloadEvents } from './provider-events.ts';
import type { ProviderTestReport } from '../catalogue/providers/provider-test-outcome.ts';
import { testProvider } from './test-provider-connection.ts';

// Opens the providers of the catalogue, and those of jobs from their frozen configurations.

export type ProviderWithTermsAndPoller = {
  readonly provider: Provider;
  readonly terms: FrozenJobTerms;
  /** The stored form of the terms, and its SHA-256. */
  readonly stored: { readonly text: string; readonly hash: string };
  /** This worker shares polls between all jobs with these terms. */
  readonly poller: SharedJobPoller;
  /** The provider's form of references to images; undefined leaves prompts unchanged. */
  readonly imageReference?: string | undefined;
};

export type OpenProviders = {
  /** Opens the provider of an entry; undefined when the catalogue in force has none with its name. */
  readonly ofEntry: (entry: TierEntry) => ProviderWithTermsAndPoller | undefined;
  /** Opens the provider of a job; undefined when its name has left the catalogue or belongs to another upstream now. */
  readonly ofJob: (job: {
    readonly provider: string;
    readonly config: unknown;
  }) => ProviderWithTermsAndPoller | undefined;
};

/** Sends one request that costs nothing to the provider of an entry. */
export type ProviderTester = (entry: TierEntry, signal: AbortSignal) => Promise<ProviderTestReport>;

export type OpenProvidersDeps = {
  readonly catalogue: () => Catalogue;
  readonly preview: RunProvider;
  readonly readSecret: SecretReader;
  /** Opens a client for one upstream, which creates the credentials for each request. */
  readonly openClient: (upstream: { readonly baseUrl: string } & HeadersAndCredentials) => UpstreamClient;
  readonly warn: (event: string, fields: { readonly provider: string; readonly detail: string }) => void;
  readonly emit: (event: ProviderEvent) => void;
};

/** More than any catalogue has, including former configurations of jobs that are still followed. */
const maxOpen = 2_000;

export function createOpenProviders(deps: OpenProvidersDeps): OpenProviders & { readonly test: ProviderTester } {
  const opened = new LRUCache<string, Opened>({ max: maxOpen });
  const reservations = new Map<string, ReservePollTime>();
  const preview = providerWithTermsAndPoller(deps.preview, {
    ...deps.preview.config,
    failedJobs: 'free',
    onLostJob: 'resubmit',
  });
  const settingsOf = (name: string) => deps.catalogue().providers.get(name);

  function open(name: string, settings: SettingsExceptPreview, terms: FrozenJobTerms): Opened | undefined {
    // A name with another kind now is another upstream.
    if (settings.kind !== terms.kind) return undefined;
    // Some settings in force apply to earlier jobs, too.
    const key = JSON.stringify([name, terms, settings]);
    const reservePollTime = reservations.get(name) ?? createPollReservations();
    reservations.set(name, reservePollTime);
    const one = opened.get(key) ?? openUpstream(deps, reservePollTime, { name, settings, terms });
    opened.set(key, one);
    return one;
  }

  function ofEntry(entry: TierEntry): Opened | typeof preview | undefined {
    const { provider: name, upstreamModel, cost, onRefusedOutput } = entry;
    const settings = settingsOf(name);
    if (settings === undefined) return undefined;
    if (settings.kind === 'preview') return preview;
    const { kind, baseUrl, failedJobs, onLostJob } = settings;
    const options = adapterOf(kind).options(entry, settings, deps.catalogue().files);
    const terms = { kind, baseUrl, upstreamModel, options, failedJobs, onLostJob, cost, onRefusedOutput };
    return open(name, settings, terms);
  }

  return {
    ofEntry,
    test: async (entry, signal) => {
      const one = ofEntry(entry);
      if (one === undefined) return { outcome: 'not_tested', detail: 'not in the catalogue in force' };
      // A worker that runs this can generate previews, and there is nothing to request.
      return 'test' in one ? await one.test(signal) : { outcome: 'ok' };
    },
    ofJob: ({ provider: name, config }) => {
      if (name === deps.preview.name) return preview;
      const settings = settingsOf(name);
      const terms = frozenSchema.safeParse(config).data as FrozenJobTerms | undefined; // we wrote it
      if (settings === undefined || settings.kind === 'preview' || terms === undefined) return undefined;
      return isSameOrigin(settings.baseUrl, terms.baseUrl) ? open(name, settings, terms) : undefined;
    },
  };
}

type Opened = ProviderWithTermsAndPoller & { readonly test: (signal: AbortSignal) => Promise<ProviderTestReport> };

type Upstream = { readonly name: string; readonly settings: SettingsExceptPreview; readonly terms: FrozenJobTerms };

function openUpstream(
  deps: OpenProvidersDeps,
  reservePollTime: ReservePollTime,
  { name, settings, terms }: Upstream,
): Opened {
  const { requestSettings = bearer, open } = adapterOf(settings.kind);
  const inForce = () => settingsInForce(deps, name, terms);
  const client = deps.openClient({ baseUrl: terms.baseUrl, ...requestSettings(terms, inForce, deps.readSecret) });
  const warn: Warn = (event, detail) => deps.warn(event, { provider: name, detail });
  const files = () => deps.catalogue().files;
  const openWith = (by: UpstreamClient) => open({ name, config: terms, settings, files, warn, client: by });
  const onPoll: PollerDeps['onPoll'] = (outcome) => deps.emit({ kind: 'provider_poll', provider: name, outcome });
  const { imageReference } = settings;
  const provider = openWith(clientWithDownloadEvents(client, name, deps.emit));
  return {
    ...providerWithTermsAndPoller(provider, terms, { reservePollTime, warn, onPoll, imageReference }),
    test: (signal) => testProvider(client, openWith, signal),
  };
}

/** Returns the settings with the key in force, so that it can be rotated, but never those of another upstream. */
function settingsInForce(
  { catalogue }: Pick<OpenProvidersDeps, 'catalogue'>,
  name: string,
  { baseUrl }: FrozenConfig,
): SettingsExceptPreview {
  const settings = catalogue().providers.get(name);
  if (settings === undefined || settings.kind === 'preview' || !isSameOrigin(settings.baseUrl, baseUrl))
    throw new Error(`provider ${name} was removed from the catalogue, or its baseUrl has another origin now`);
  return settings;
}

const bearer: NonNullable<Adapter['requestSettings']> = (_config, inForce, read) => ({
  headers: {},
  credentials: () => {
    const { key } = inForce();
    return key === undefined ? {} : { authorization: `Bearer ${read(key)()}` };
  },
  secretQuery: () => ({}),
  keyOrigins: [],
});

type OpenOptions = Partial<Pick<PollerDeps, 'reservePollTime' | 'warn' | 'onPoll'>> &
  Pick<ProviderWithTermsAndPoller, 'imageReference'>;

export function providerWithTermsAndPoller(
  provider: Provider,
  terms: FrozenJobTerms,
  { reservePollTime = createPollReservations(), warn = () => {}, onPoll = () => {}, imageReference }: OpenOptions = {},
): ProviderWithTermsAndPoller {
  const text = JSON.stringify(terms);
  const stored = { text, hash: hash('sha256', text) };
  const poller =
    provider.runs === 'upstream' ? createSharedJobPoller({ provider, reservePollTime, warn, onPoll }) : unpollable;
  return { provider, terms, stored, imageReference, poller };
}

const unpollable: SharedJobPoller = {
  follow: () => Promise.reject(new Error('jobs of this provider cannot be polled')),
};

/** Checks the fields that this file reads. We wrote the terms, and further fields may matter to the adapter. */
const frozenSchema = z.looseObject({
  kind: z.string(),
  baseUrl: z.string(),
  upstreamModel: z.string(),
  options: z.record(z.string(), z.json()),
  failedJobs: z.enum(['free', 'billed']),
  onLostJob: z.enum(['fail', 'resubmit']),
});

function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
