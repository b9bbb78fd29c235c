import { loadClientConnectConfig } from '@temporalio/envconfig';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { builtInCatalogue, readCatalogueFile } from './catalogue-file.ts';
import type { SecretReader } from './domain/catalogue/providers.ts';
import { ConfigError, errorCode, SetupError } from './domain/errors.ts';
import { parseRate, unitsMs } from './domain/rate-limit.ts';
import { parseStoreLocation, type StoreLocation } from './domain/store-location.ts';
import { loopbackAllowance, parseAllowList } from './outbound/allow-list.ts';
import type { TemporalTarget } from './temporal/connect.ts';

/** What the environment says. Undefined `databaseUrl` or `temporal` means that part is embedded. */
export type Config = Readonly<ReturnType<typeof configOf>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Names a file of settings for fontconfig, which finds the fonts of titles, where the machine has none: it would complain on
 * standard error. It reads the environment itself, once, before the first text.
 */
export function provideFontSettings(systemFile = '/etc/fonts/fonts.conf'): void {
  const { FONTCONFIG_FILE: file, FONTCONFIG_PATH: folder }: Environment = process.env;
  if (file !== undefined || folder !== undefined || existsSync(systemFile)) return;
  process.env['FONTCONFIG_FILE'] = fileURLToPath(import.meta.resolve('#assets/fonts.conf'));
}

/**
 * Reads the configuration and checks the catalogue; the only reader of the environment in the program. Throws `ConfigError`.
 */
export function readConfig(environment: Environment = process.env): Config {
  const faults: string[] = [];
  const env = variablesOf(environment, faults);
  const given = [...nameOf].map(([setting, name]) => [setting, env[name]]);
  const { data, error } = schema.safeParse(Object.fromEntries(given));
  for (const { path, message } of error?.issues ?? []) faults.push(`${nameOf.get(path[0])}: ${message}`);
  if (data?.databaseUrl !== undefined && data.secret === undefined)
    faults.push('VIDEOGEN_SECRET: must be set when DATABASE_URL is (32 characters or more), alike in every process');
  if (data !== undefined && (data.oidcIssuer === undefined) !== (data.oidcClientId === undefined))
    faults.push('OIDC_ISSUER, OIDC_CLIENT_ID: set both or neither');
  if (data?.passwordSignIn === false && data.oidcIssuer === undefined)
    faults.push('CONSOLE_PASSWORD_LOGIN: may be off only where OIDC_ISSUER is set');
  if (faults.length > 0 || data === undefined) throw new ConfigError(faults);
  return configOf(data, env);
}

/** Variables that may hold a secret and so may also be given as the path of a file, `NAME_FILE`. */
const secretNames = ['DATABASE_URL', 'VIDEOGEN_SECRET', 'TEMPORAL_API_KEY', 'VIDEOGEN_API_KEY', 'OIDC_CLIENT_SECRET'];

const anyText = z.string();

const flag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1');

const onOrOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on');

const plainName = z
  .string()
  .regex(/^[\w.-]{1,100}$/, { error: 'must be 1 to 100 letters, digits, dots, dashes or underscores' });

function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}

/** Runs a parser that throws, and makes its message this variable's fault. */
function parsedBy<T>(parse: (text: string) => T) {
  return anyText.transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  });
}

const span = (unitMs: number, max: number, usual: number) =>
  wholeNumber(1, max)
    .default(usual)
    .transform((count) => count * unitMs);

const rate = (usual: string) => anyText.default(usual).pipe(parsedBy(parseRate));

/** Each fault of the file is one of this variable's. */
function catalogueIn(file: string, context: z.RefinementCtx) {
  const path = resolve(file);
  try {
    return { path, catalogue: readCatalogueFile({ path }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const message of error.faults) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
}

const maxDelayMs = 5 * 60_000;

/** `500ms`, `5s`, `1m` or `0`, in milliseconds. */
function parseDelay(text: string): number {
  if (text === '0') return 0;
  const [, amount, unit = ''] = /^(\d{1,6})(ms|s|m)$/.exec(text) ?? [];
  const ms = Number(amount) * (unitsMs[unit] ?? Number.NaN);
  if (!(ms <= maxDelayMs)) throw new Error('must be a duration of up to 5 minutes, such as 5s or 500ms, or 0');
  return ms;
}

/** The variable that a setting is read from. */
function from<T extends z.ZodType>(variable: string, setting: T): T {
  return setting.meta({ variable });
}

const absolute = (path: string) => resolve(path);
const withOurName = (path: string) => join(path, 'videogen');
const storeLocation = parsedBy((text): StoreLocation => {
  const location = parseStoreLocation(text);
  return location.kind === 'folder' ? { ...location, path: absolute(location.path) } : location;
});
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''));
const isLoopback = ({ hostname }: URL) => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
const issuerUrl = httpUrl.refine((url) => url.startsWith('https:') || isLoopback(new URL(url)), {
  error: 'must be https, unless it is on this machine',
});
const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' });
const longSecret = anyText.min(32, { error: 'must be at least 32 characters of randomness' });
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const level = z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` });

const schema = z.object({
  host: from('HOST', anyText.default('127.0.0.1')),
  port: from('PORT', wholeNumber(0, 65_535).default(3000)),
  /** Where this process serves its metrics apart from the API; undefined means nowhere. */
  metricsPort: from('METRICS_PORT', wholeNumber(0, 65_535).optional()),
  /** Base address in links; undefined means http://HOST:PORT. */
  publicUrl: from('PUBLIC_URL', baseUrl.optional()),
  /** Whether people may sign in to the console with a password. */
  passwordSignIn: from('CONSOLE_PASSWORD_LOGIN', onOrOff.default(true)),
  /** An identity provider that people may sign in with, by OpenID Connect; undefined for none. */
  oidcIssuer: from('OIDC_ISSUER', issuerUrl.optional()),
  oidcClientId: from('OIDC_CLIENT_ID', anyText.optional()),
  oidcClientSecret: from('OIDC_CLIENT_SECRET', anyText.optional()),
  oidcName: from('OIDC_NAME', anyText.max(100, { error: 'must be at most 100 characters' }).optional()),
  dataFolder: from('VIDEOGEN_DATA', anyText.default('./data').transform(absolute)),
  cacheFolder: from('XDG_CACHE_HOME', anyText.default(join(homedir(), '.cache')).transform(withOurName)),
  databaseUrl: from('DATABASE_URL', postgresUrl.optional()),
  databasePoolSize: from('DATABASE_POOL_SIZE', wholeNumber(1, 1000).default(10)),
  temporalCliPath: from('TEMPORAL_CLI_PATH', anyText.optional()),
  taskQueue: from('VIDEOGEN_TASK_QUEUE', plainName.default('videogen')),
  /** A folder or a bucket, or undefined for the folder in the data folder. */
  resultStore: from('RESULT_STORE', storeLocation.optional()),
  /** Read as well, while an installation moves from one store to another. */
  resultStoreAlso: from('RESULT_STORE_ALSO', storeLocation.optional()),
  // The SDK's own variables. Undefined: what its files say, and the region us-east-1 where an endpoint is set.
  s3Endpoint: from('AWS_ENDPOINT_URL_S3', baseUrl.optional()),
  s3Region: from('AWS_REGION', plainName.optional()),
  s3PathStyle: from('S3_PATH_STYLE', flag.optional()),
  /** Signs links and seals callback secrets; undefined only in embedded mode, which makes and keeps one. */
  secret: from('VIDEOGEN_SECRET', longSecret.optional()),
  callbackAllow: from('CALLBACK_ALLOW', parsedBy(parseAllowList).optional()),
  imageAllow: from('IMAGE_ALLOW', parsedBy(parseAllowList).optional()),
  catalogue: from('VIDEOGEN_MODELS', anyText.transform(catalogueIn).optional()),
  /** Videos that this machine renders at the same time. */
  generationConcurrency: from('GENERATION_CONCURRENCY', wholeNumber(1, 10_000).default(2)),
  /** Tasks at upstreams that this process follows at the same time; the limits of the upstreams are in the catalogue. */
  remoteConcurrency: from('REMOTE_CONCURRENCY', wholeNumber(1, 10_000).default(1000)),
  /** Name of this build, for workers of several versions side by side (docs/operations.md); undefined means unversioned. */
  workerVersion: from('WORKER_VERSION', plainName.optional()),
  // Limits per account and, of bad keys, per address; undefined is no limit.
  createRate: from('CREATE_RATE', rate('20/10s')),
  readRate: from('READ_RATE', rate('100/10s')),
  refusedCreateRate: from('REFUSED_CREATE_RATE', rate('100/60s')),
  badKeyRate: from('BAD_KEY_RATE', rate('20/60s')),
  shutdownDelayMs: from('SHUTDOWN_DELAY', parsedBy(parseDelay).optional()),
  retentionMs: from('MEDIA_RETENTION_DAYS', span(24 * 60 * 60_000, 36_500, 14)),
  /** A task whose workflow's code fails is refunded after so long. */
  stuckTaskMs: from('STUCK_TASK_SECONDS', span(1000, 86_400, 600)),
  /** For the command line as a client of the API. */
  apiKey: from('VIDEOGEN_API_KEY', anyText.optional()),
  ffmpegPath: from('FFMPEG_PATH', anyText.optional()),
  previewFaults: from('PREVIEW_FAULTS', flag.default(false)),
  logLevel: from('LOG_LEVEL', level.default('info')),
  /** For the programs we start or look for ourselves. */
  path: from('PATH', anyText.default('')),
});

/** The variable of each setting. */
const nameOf = new Map<unknown, string>(
  Object.entries(schema.shape).map(([setting, field]) => [setting, String(field.meta()?.['variable'])]),
);

/** Where programs are found and downloads are kept: all that a demo takes from the environment. */
const allowedSettings = ['PATH', 'XDG_CACHE_HOME', 'TEMPORAL_CLI_PATH', 'FFMPEG_PATH'];

/**
 * Takes every other setting out of the environment, those that libraries read by themselves included, so that what follows
 * can reach no database, Temporal or store but its own.
 */
export function sealEnvironment(environment: NodeJS.ProcessEnv = process.env): void {
  const settings = new Set([...nameOf.values(), ...secretNames.map((name) => `${name}_FILE`)]);
  for (const name of Object.keys(environment)) {
    const isSetting = settings.has(name) || /^(VIDEOGEN_|TEMPORAL_|PG[A-Z]+$)/.test(name);
    if (isSetting && !allowedSettings.includes(name)) delete environment[name];
  }
}

function configOf(settings: z.output<typeof schema>, env: Record<string, string>) {
  const isEmbedded = settings.databaseUrl === undefined;
  // Embedded mode is for one person's machine, so its own addresses are let through; a shared service names what it wants.
  const { oidcIssuer: issuer, oidcClientId: clientId } = settings;
  const usualAllow = parseAllowList(isEmbedded ? loopbackAllowance : '');
  return {
    ...settings,
    ...temporalSettings(env),
    oidc:
      issuer === undefined || clientId === undefined
        ? undefined
        : {
            issuer,
            clientId,
            clientSecret: settings.oidcClientSecret,
            name: settings.oidcName ?? new URL(issuer).hostname,
          },
    callbackAllow: settings.callbackAllow ?? usualAllow,
    imageAllow: settings.imageAllow ?? usualAllow,
    /** The catalogue at the start of the process, without a look at its secrets. */
    catalogue: settings.catalogue?.catalogue ?? builtInCatalogue(),
    /** Where processes that go on look for changes of it; undefined for the built-in one. */
    catalogueFile: settings.catalogue?.path,
    /** Between SIGTERM, from which on `/readyz` answers 503, and the closing of the listener: a proxy needs time to notice. */
    shutdownDelayMs: settings.shutdownDelayMs ?? (isEmbedded ? 0 : 5_000),
  };
}

/** Temporal's own variables, read by Temporal's own library (addresses, namespace, API key, TLS files). */
function temporalSettings(overrideEnvVars: Record<string, string>) {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({ overrideEnvVars, disableFile: true });
  const target: TemporalTarget = { connection: connectionOptions, namespace };
  const isEmbedded = overrideEnvVars['TEMPORAL_ADDRESS'] === undefined;
  return { temporal: isEmbedded ? undefined : target, temporalNamespace: namespace };
}

/** Every variable that is set and not empty, and the secrets that are given as files. */
function variablesOf(environment: Environment, faults: string[]): Record<string, string> {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] => (entry[1] ?? '') !== '';
  const env = Object.fromEntries(Object.entries(environment).filter(isSet));
  for (const name of secretNames) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] !== undefined) faults.push(`${name}: is set, and ${name}_FILE too; set only one`);
    try {
      env[name] = readFileSync(file, 'utf8').trim();
    } catch (error) {
      faults.push(`${name}_FILE: ${messageOf(error)}`);
    }
  }
  return env;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads secrets of the catalogue; their files are looked for from `folder` on. No message repeats a name, a path or a value. */
export function secretReader(folder: string, environment: Environment = process.env): SecretReader {
  return (ref) => () => {
    const secret = (
      ref.env === undefined ? secretInFile(resolve(folder, ref.file ?? '')) : environment[ref.env]
    )?.trim();
    if (secret === undefined || secret === '') throw new SetupError('is not set where this refers to');
    // Anything else would break the header that carries it.
    if (!/^[\x20-\x7e]{1,10000}$/.test(secret)) throw new SetupError('must be one line of ASCII where this refers to');
    return secret;
  };
}

function secretInFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SetupError(`refers to a file that cannot be read (${errorCode(error) ?? 'unknown'})`);
  }
}
