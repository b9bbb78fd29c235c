import { loadClientConnectConfig } from '@temporalio/envconfig';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { SecretRef } from './domain/catalogue/providers.ts';
import { ConfigError, errorCode, SetupError } from './domain/errors.ts';
import { defaultModels, providerNames, unknownProviders } from './domain/models.ts';
import { parseRate, unitsMs } from './domain/rate-limit.ts';
import { parseModelsFile } from './models-file.ts';
import { loopbackAllowance, parseAllowList } from './outbound/allow-list.ts';
import type { TemporalTarget } from './temporal/connect.ts';

/** What the environment says. Undefined `databaseUrl` or `temporal` means that part is embedded. */
export type Config = Readonly<ReturnType<typeof configOf>>;

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

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
 * Reads the configuration; the only reader of the environment in the program. Throws `ConfigError`. The catalogue may name the
 * given providers: a task of a model whose provider no worker has would be charged and then refunded.
 */
export function readConfig(environment: Environment = process.env, providers = providerNames): Config {
  const faults: string[] = [];
  const env = withSecretsFromFiles(withoutEmpty(environment), faults);
  const parsed = schema.safeParse(env);
  if (!parsed.success) faults.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  const unknown = unknownProviders(parsed.data?.VIDEOGEN_MODELS ?? [], providers);
  faults.push(...unknown.map((fault) => `VIDEOGEN_MODELS: ${fault}`));
  if (faults.length > 0 || !parsed.success) throw new ConfigError(faults);
  return configOf(parsed.data, env);
}

/** Variables that may hold a secret and so may also be given as the path of a file, `NAME_FILE`. */
const secretNames = ['DATABASE_URL', 'VIDEOGEN_SECRET', 'TEMPORAL_API_KEY', 'VIDEOGEN_API_KEY'] as const;

const flag = z.enum(['0', '1'], { error: 'must be 0 or 1' }).transform((value) => value === '1');

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
  return z.string().transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
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

const schema = z
  .object({
    HOST: z.string().default('127.0.0.1'),
    PORT: wholeNumber(0, 65_535).default(3000),
    METRICS_PORT: wholeNumber(0, 65_535).optional(),
    PUBLIC_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
    VIDEOGEN_DATA: z.string().default('./data'),
    XDG_CACHE_HOME: z.string().optional(),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' }).optional(),
    DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10),
    TEMPORAL_ADDRESS: z.string().optional(),
    TEMPORAL_CLI_PATH: z.string().optional(),
    VIDEOGEN_TASK_QUEUE: plainName.default('videogen'),
    RESULT_STORE: z
      .string()
      .refine((store) => !store.includes('://'), { error: 'must be a folder' })
      .transform((folder) => resolve(folder))
      .optional(),
    VIDEOGEN_SECRET: z.string().min(32, { error: 'must be at least 32 characters of randomness' }).optional(),
    CALLBACK_ALLOW: parsedBy(parseAllowList).optional(),
    IMAGE_ALLOW: parsedBy(parseAllowList).optional(),
    VIDEOGEN_MODELS: parsedBy((file) => parseModelsFile(readFileSync(file, 'utf8'))).optional(),
    GENERATION_CONCURRENCY: wholeNumber(1, 10_000).default(2),
    WORKER_VERSION: plainName.optional(),
    CREATE_RATE: z.string().default('20/10s').pipe(parsedBy(parseRate)),
    READ_RATE: z.string().default('100/10s').pipe(parsedBy(parseRate)),
    REFUSED_CREATE_RATE: z.string().default('100/60s').pipe(parsedBy(parseRate)),
    BAD_KEY_RATE: z.string().default('20/60s').pipe(parsedBy(parseRate)),
    SHUTDOWN_DELAY: parsedBy(parseDelay).optional(),
    MEDIA_RETENTION_DAYS: wholeNumber(1, 36_500).default(14),
    STUCK_TASK_SECONDS: wholeNumber(1, 86_400).default(600),
    VIDEOGEN_API_KEY: z.string().optional(),
    FFMPEG_PATH: z.string().optional(),
    PREVIEW_FAULTS: flag.default(false),
    LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(', ')}` }).default('info'),
    PATH: z.string().default(''),
  })
  .superRefine((env, context) => {
    if (env.DATABASE_URL === undefined || env.VIDEOGEN_SECRET !== undefined) return;
    const message = 'must be set (32 characters or more) when DATABASE_URL is; every process needs the same one';
    context.addIssue({ code: 'custom', path: ['VIDEOGEN_SECRET'], message });
  });

/** Where programs are found and downloads are kept: all that a demo takes from the environment. */
const allowedSettings = ['PATH', 'XDG_CACHE_HOME', 'TEMPORAL_CLI_PATH', 'FFMPEG_PATH'];

/**
 * Takes every other setting out of the environment, those that libraries read by themselves included, so that what follows
 * can reach no database, Temporal or store but its own.
 */
export function sealEnvironment(environment: NodeJS.ProcessEnv = process.env): void {
  const settings = new Set([...Object.keys(schema.shape), ...secretNames.map((name) => `${name}_FILE`)]);
  for (const name of Object.keys(environment)) {
    const isSetting = settings.has(name) || /^(VIDEOGEN_|TEMPORAL_|PG[A-Z]+$)/.test(name);
    if (isSetting && !allowedSettings.includes(name)) delete environment[name];
  }
}

function configOf(env: z.output<typeof schema>, environment: Environment) {
  // Embedded mode is for one person's machine, so its own addresses are let through; a shared service names what it wants.
  const defaultAllow = parseAllowList(env.DATABASE_URL === undefined ? loopbackAllowance : '');
  return {
    host: env.HOST,
    port: env.PORT,
    /** Where this process serves its metrics apart from the API; undefined means nowhere. */
    metricsPort: env.METRICS_PORT,
    /** Base address in links; undefined means http://HOST:PORT. */
    publicUrl: env.PUBLIC_URL,
    dataFolder: resolve(env.VIDEOGEN_DATA),
    cacheFolder: join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'videogen'),
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    ...temporalSettings(environment),
    temporalCliPath: env.TEMPORAL_CLI_PATH,
    taskQueue: env.VIDEOGEN_TASK_QUEUE,
    /** A folder, or undefined for the one in the data folder. */
    resultStore: env.RESULT_STORE,
    /** Signs links and seals callback secrets; undefined only in embedded mode, which makes and keeps one. */
    secret: env.VIDEOGEN_SECRET,
    callbackAllow: env.CALLBACK_ALLOW ?? defaultAllow,
    imageAllow: env.IMAGE_ALLOW ?? defaultAllow,
    models: env.VIDEOGEN_MODELS ?? defaultModels,
    generationConcurrency: env.GENERATION_CONCURRENCY,
    /** Name of this build, for workers of several versions side by side (docs/operations.md); undefined means unversioned. */
    workerVersion: env.WORKER_VERSION,
    // Limits per account and, of bad keys, per address; undefined is no limit.
    createRate: env.CREATE_RATE,
    readRate: env.READ_RATE,
    refusedCreateRate: env.REFUSED_CREATE_RATE,
    badKeyRate: env.BAD_KEY_RATE,
    /**
     * Between SIGTERM, from which on `/readyz` answers 503, and the closing of the listener. A proxy needs a few looks to notice;
     * on one's own machine there is none.
     */
    shutdownDelayMs: env.SHUTDOWN_DELAY ?? (env.DATABASE_URL === undefined ? 0 : 5_000),
    retentionMs: env.MEDIA_RETENTION_DAYS * 24 * 60 * 60_000,
    /** A task whose workflow's code fails is refunded after so long. */
    stuckTaskMs: env.STUCK_TASK_SECONDS * 1000,
    ffmpegPath: env.FFMPEG_PATH,
    previewFaults: env.PREVIEW_FAULTS,
    logLevel: env.LOG_LEVEL,
    /** For the command line as a client of the API. */
    apiKey: env.VIDEOGEN_API_KEY,
    /** For the programs we start or look for ourselves. */
    path: env.PATH,
  };
}

/** Temporal's own variables, read by Temporal's own library (addresses, namespace, API key, TLS files). */
function temporalSettings(environment: Environment) {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const loaded = loadClientConnectConfig({ overrideEnvVars, disableFile: true });
  const namespace = loaded.namespace ?? 'default';
  const target: TemporalTarget = { connection: loaded.connectionOptions, namespace };
  const isEmbedded = overrideEnvVars['TEMPORAL_ADDRESS'] === undefined;
  return { temporal: isEmbedded ? undefined : target, temporalNamespace: namespace };
}

function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));
}

function withSecretsFromFiles(environment: Environment, faults: string[]): Environment {
  const read = secretNames.map((name): [string, string | undefined] => {
    const file = environment[`${name}_FILE`];
    if (file === undefined) return [name, environment[name]];
    if (environment[name] !== undefined) faults.push(`${name}: is set, and ${name}_FILE too; set only one`);
    return [name, readSecretFile(name, file, faults)];
  });
  return { ...environment, ...Object.fromEntries(read) };
}

function readSecretFile(name: string, file: string, faults: string[]): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    faults.push(`${name}_FILE: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Gives a secret when it is needed, so that a rotated one counts without a restart and none lies in an object. */
export type SecretReader = (ref: SecretRef) => () => string;

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
