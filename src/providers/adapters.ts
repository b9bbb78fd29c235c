import type { JsonObject } from '../platform/text/json.ts';
import { z } from 'zod';
import type { Catalogue, TierEntry } from '../catalogue/file/catalogue-schema-and-types.ts';
import type { ProviderSettings, SecretReader } from '../catalogue/file/provider-schema.ts';
import { createArkProvider } from './ark/ark-provider.ts';
import { createCogProvider } from './cog/cog-provider.ts';
import { createComfyV2Provider } from './comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from './comfy/comfyui-provider.ts';
import type {
  FrozenConfig,
  FrozenJobTerms,
  Provider,
  HeadersAndCredentials,
  UpstreamClient,
  Warn,
} from './provider-contract.ts';
import { requestSettingsOf } from './http/headers-and-query.ts';
import { type ProviderFile, parseProviderFile } from '../catalogue/providers/provider-file-schema.ts';
import { createHttpProvider } from './http/http-provider.ts';
import { createVideosProvider } from './openai-videos/videos-provider.ts';
import { createOwnProvider } from './own/own-provider.ts';
import type { PolledProviderDeps } from './jobs/polled-provider.ts';

export type SettingsExceptPreview = Exclude<ProviderSettings, { kind: 'preview' }>;
type Kind = SettingsExceptPreview['kind'];
type SettingsOf<K extends Kind> = Extract<SettingsExceptPreview, { kind: K }>;

export type AdapterOpenInput<Settings = SettingsExceptPreview> = {
  readonly name: string;
  readonly config: FrozenJobTerms;
  readonly client: UpstreamClient;
  readonly settings: Settings;
  /** Returns the files of the catalogue in force. */
  readonly files: () => Catalogue['files'];
  readonly warn: Warn;
};

/** What the service has to know of a kind. */
export type Adapter<Settings = SettingsExceptPreview> = {
  /** Returns the options that are frozen with each job, so without secrets. */
  readonly options: (entry: TierEntry, settings: Settings, files: Catalogue['files']) => JsonObject;
  /** Needed where requests carry something other than the key of the provider as a bearer token. `inForce` returns the settings for one request. */
  readonly requestSettings?: (
    config: FrozenConfig,
    inForce: () => Settings,
    read: SecretReader,
  ) => HeadersAndCredentials;
  readonly open: (opening: AdapterOpenInput<Settings>) => Provider;
};

const adapters: { readonly [K in Kind]: Adapter<SettingsOf<K>> } = {
  own: {
    options: parametersOf,
    open: (opening) => createOwnProvider({ ...polled(opening), uploads: opening.settings.uploads }),
  },
  ark: {
    options: (entry, { paths, resultPath }) => ({ ...parametersOf(entry), paths, resultPath }),
    open: (opening) => createArkProvider({ ...polled(opening), cost: opening.config.cost }),
  },
  'openai-videos': {
    options: (entry, { dialect }) => ({ ...parametersOf(entry), dialect }),
    open: (opening) => createVideosProvider(polled(opening)),
  },
  comfyui: {
    options: parametersOf,
    open: (opening) => createComfyuiProvider({ ...polled(opening), workflow: () => workflowOf(opening) }),
  },
  'comfy-v2': {
    options: parametersOf,
    open: (opening) => createComfyV2Provider({ ...polled(opening), workflow: () => workflowOf(opening) }),
  },
  cog: { options: parametersOf, open: createCogProvider },
  http: {
    // A job is followed with the file that it was created with, so the file is frozen with the job. Its `rules` apply only before a create,
    // so they are left out.
    options: (entry, settings, files) => {
      const { rules: _rules, ...file } = jsonOf(files.get(settings.file));
      return { ...parametersOf(entry), file };
    },
    requestSettings: (config, inForce, read) =>
      requestSettingsOf(fileOf(config), () => {
        const { key, secrets = {} } = inForce();
        const named = Object.entries(secrets).map(([name, ref]) => [name, read(ref)] as const);
        return { key: key && read(key), named: new Map(named) };
      }),
    // A provider has expressions of its own, because evaluations of one must not overlap.
    open: (opening) => createHttpProvider({ ...polled(opening), file: fileOf(opening.config) }),
  },
};

export function adapterOf(kind: Kind): Adapter {
  // The map has an adapter for the settings of each kind, which are what callers give to it.
  return adapters[kind] as Adapter;
}

type PolledOpening = AdapterOpenInput<SettingsExceptPreview & { readonly pollsPerSecond: number }>;

function polled({ name, config, client, settings, warn }: PolledOpening): PolledProviderDeps {
  const submitTimeoutMs = settings.timeouts.submitSeconds * 1000;
  return { name, config, client, warn, submitTimeoutMs, pollsPerSecond: settings.pollsPerSecond };
}

function parametersOf({ parameters }: TierEntry): JsonObject {
  return { parameters: jsonOf(parameters) };
}

/** Catalogues and their files contain plain JSON. */
function jsonOf(value: unknown): JsonObject {
  return z.record(z.string(), z.json()).parse(value);
}

/** Returns the workflow of the catalogue in force; a job whose workflow was removed is still followed. */
function workflowOf({ config, files }: Pick<AdapterOpenInput, 'config' | 'files'>): JsonObject {
  const { workflow } = z.object({ workflow: z.string() }).parse(config.options['parameters']);
  return jsonOf(files().get(workflow) ?? {});
}

function fileOf({ options }: FrozenConfig): ProviderFile {
  const { file } = parseProviderFile(options['file']);
  if (file === undefined) throw new Error('the provider file that is stored with this job is not valid');
  return file;
}
