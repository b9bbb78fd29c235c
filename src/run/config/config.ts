import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { builtInCatalogue } from '../../catalogue/file/read-catalogue-file.ts';
import { hookDefaults, maxHookConcurrency, maxHookSeconds } from '../../catalogue/file/moderation-schema.ts';
import type { SecretReader } from '../../catalogue/file/provider-schema.ts';
import { ConfigError, messageOf, SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { parsePayloadKeys } from '../../temporal/connection/payload-keys.ts';
import { queueNames } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import { parseQueueNames } from '../../temporal/connection/parse-queue-names.ts';
import { loopbackAllowListText, parseAllowList, parseNetworks } from '../../platform/outbound/guard/allow-list.ts';
import {
  toAbsolutePath,
  anyText,
  baseUrl,
  readCatalogueSetting,
  daysAsMs,
  zeroOrOne,
  declareSetting,
  moderationHookOnError,
  moderationHookShape,
  httpUrl,
  issuerUrl,
  logLevelName,
  longSecret,
  onOrOff,
  parsedBy,
  parseDelay,
  parseSecrets,
  plainName,
  postgresUrl,
  rate,
  secondsAsMs,
  settingRegistry,
  storeLocation,
  stripeKey,
  stripeWebhookSecret,
  wholeNumber,
  videogenSubfolderOf,
} from './setting-kinds.ts';
import { brandFields, brandFromSettings } from './brand-settings.ts';
import { defaultCacheFolder } from './default-cache-folder.ts';
import { jsonOnOneLine, secretInFile } from './secret-files.ts';
import { signUpAndMailFields, signUpAndMailProblems, signUpAndMailSettings } from './sign-up-and-mail-settings.ts';
import { temporalProblems, temporalSettings } from './temporal-settings.ts';

/** The configuration. If `databaseUrl` or `temporal` is undefined, that part is embedded. */
export type Config = Readonly<ReturnType<typeof configOf>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Configures fontconfig, which finds the fonts of titles: the machine's settings or ours, with the cache in `folder`, because the system's
 * cache may not be writable. Fontconfig reads the environment once, before the first text.
 */
export function configureFontconfig(folder: string, systemFile = '/etc/fonts/fonts.conf'): void {
  const { FONTCONFIG_FILE: givenFile, FONTCONFIG_PATH: givenFolder }: Environment = process.env;
  // An inherited variable may name a data folder that was deleted.
  const isGiven = givenFile !== undefined && existsSync(resolve('/etc/fonts', givenFile));
  if (isGiven || givenFolder !== undefined) return;
  const fonts = existsSync(systemFile) ? systemFile : fileURLToPath(import.meta.resolve('#assets/fonts.conf'));
  const text = `<fontconfig><cachedir>${inXml(folder)}</cachedir><include>${inXml(fonts)}</include></fontconfig>\n`;
  const file = join(folder, 'fonts.conf');
  const fresh = `${file}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  // Another worker may read the file at the same time.
  writeFileSync(fresh, text);
  renameSync(fresh, file);
  process.env['FONTCONFIG_FILE'] = file;
}

function inXml(path: string): string {
  return path.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

type ReadOptions = {
  readonly isExternal?: boolean;
  /** The catalogue without VIDEOGEN_MODELS; the built-in one by default. */
  readonly standardCatalogue?: string;
};

/**
 * Reads the configuration and checks the catalogue; no other module reads the environment. Throws `ConfigError` with every
 * invalid setting. `isExternal` requires the settings of a process that embeds nothing.
 */
export function readConfig(environment: Environment = process.env, options: ReadOptions = {}): Config {
  const { isExternal = false, standardCatalogue } = options;
  const problems: string[] = [];
  const env = variablesOf(environment, problems);
  if (standardCatalogue !== undefined) env['VIDEOGEN_MODELS'] ??= standardCatalogue;
  const needed = isExternal ? externalNames.filter((name) => env[name] === undefined) : [];
  problems.push(...needed.map((name) => `${name}: must be set; only "npm start" works without it`));
  const given = [...nameOf].map(([setting, name]) => [setting, env[name]]);
  const { data, error } = schema.safeParse(Object.fromEntries(given));
  for (const { path, message } of error?.issues ?? []) problems.push(`${nameOf.get(String(path[0]))}: ${message}`);
  if (data?.databaseUrl !== undefined && data.secret === undefined && !needed.includes('VIDEOGEN_SECRET'))
    problems.push('VIDEOGEN_SECRET: must be set when DATABASE_URL is (32 characters or more), alike in every process');
  if (data !== undefined && (data.oidcIssuer === undefined) !== (data.oidcClientId === undefined))
    problems.push('OIDC_ISSUER, OIDC_CLIENT_ID: set both or neither');
  if (data !== undefined && (data.stripeSecretKey === undefined) !== (data.stripeWebhookSecret === undefined))
    problems.push('STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET: set both or neither');
  if (data?.passwordSignIn === false && data.oidcIssuer === undefined)
    problems.push('CONSOLE_PASSWORD_LOGIN: may be off only where OIDC_ISSUER is set');
  if (data !== undefined) problems.push(...signUpAndMailProblems(data));
  if (data?.promptRetentionMs !== undefined && data.promptRetentionMs < data.retentionMs)
    problems.push(
      'PROMPT_RETENTION_DAYS: must be MEDIA_RETENTION_DAYS or more, because the video is deleted with its prompt',
    );
  problems.push(...temporalProblems(env));
  if (problems.length > 0 || data === undefined) throw new ConfigError(problems);
  return configOf(data, env);
}

const externalNames = ['DATABASE_URL', 'TEMPORAL_ADDRESS', 'VIDEOGEN_SECRET', 'RESULT_STORE'];

/** These may also be given as the path of a file, `NAME_FILE`. */
const secretNames = [
  'DATABASE_URL',
  'VIDEOGEN_SECRET',
  'VIDEOGEN_SECRET_PREVIOUS',
  'TEMPORAL_API_KEY',
  'TEMPORAL_PAYLOAD_KEYS',
  'VIDEOGEN_API_KEY',
  'VIDEOGEN_OPERATOR_KEY',
  'OIDC_CLIENT_SECRET',
  'SMTP_URL',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'MODERATION_KEY',
];

// One line for each setting: its variable, what the variable may hold, and its default, written as in the environment. A setting without
// a default may be undefined. docs/operations/reference.md explains them; `npm run settings` writes the other files that list them.
const schema = z.object({
  host: declareSetting('HOST', anyText, '127.0.0.1'),
  port: declareSetting('PORT', wholeNumber(0, 65_535), '3000'),
  metricsPort: declareSetting('METRICS_PORT', wholeNumber(0, 65_535)),
  temporalMetricsPort: declareSetting('TEMPORAL_METRICS_PORT', wholeNumber(1, 65_535)),
  // The OpenTelemetry SDK reads these and the other OTEL_* variables itself.
  otlpEndpoint: declareSetting('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl),
  otlpTracesEndpoint: declareSetting('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', httpUrl),
  publicUrl: declareSetting('PUBLIC_URL', baseUrl),
  promptSearch: declareSetting('PROMPT_SEARCH', onOrOff, 'on'),
  passwordSignIn: declareSetting('CONSOLE_PASSWORD_LOGIN', onOrOff, 'on'),
  oidcIssuer: declareSetting('OIDC_ISSUER', issuerUrl),
  oidcClientId: declareSetting('OIDC_CLIENT_ID', anyText),
  oidcClientSecret: declareSetting('OIDC_CLIENT_SECRET', anyText),
  oidcName: declareSetting('OIDC_NAME', anyText.max(100, { error: 'must be at most 100 characters' })),
  ...signUpAndMailFields,
  ...brandFields,
  stripeSecretKey: declareSetting('STRIPE_SECRET_KEY', stripeKey),
  stripeWebhookSecret: declareSetting('STRIPE_WEBHOOK_SECRET', stripeWebhookSecret),
  stripeApiUrl: declareSetting('STRIPE_API_URL', baseUrl, 'https://api.stripe.com'),
  dataFolder: declareSetting('VIDEOGEN_DATA', anyText.transform(toAbsolutePath), './data'),
  cacheFolder: declareSetting('XDG_CACHE_HOME', anyText.transform(videogenSubfolderOf), defaultCacheFolder()),
  skipDownloads: declareSetting('VIDEOGEN_SKIP_DOWNLOADS', zeroOrOne, '0'),
  databaseUrl: declareSetting('DATABASE_URL', postgresUrl),
  databasePoolSize: declareSetting('DATABASE_POOL_SIZE', wholeNumber(1, 1000), '10'),
  temporalCliPath: declareSetting('TEMPORAL_CLI_PATH', anyText),
  taskQueue: declareSetting('VIDEOGEN_TASK_QUEUE', plainName, 'videogen'),
  resultStore: declareSetting('RESULT_STORE', storeLocation),
  resultStoreAlso: declareSetting('RESULT_STORE_ALSO', storeLocation),
  // Undefined leaves them to the files of the AWS SDK; with an endpoint, the region is us-east-1.
  s3Endpoint: declareSetting('AWS_ENDPOINT_URL_S3', baseUrl),
  s3Region: declareSetting('AWS_REGION', plainName),
  s3PathStyle: declareSetting('S3_PATH_STYLE', zeroOrOne),
  secret: declareSetting('VIDEOGEN_SECRET', longSecret),
  secretPrevious: declareSetting('VIDEOGEN_SECRET_PREVIOUS', parsedBy(parseSecrets)),
  payloadKeys: declareSetting('TEMPORAL_PAYLOAD_KEYS', parsedBy(parsePayloadKeys)),
  callbackAllow: declareSetting('CALLBACK_ALLOW', parsedBy(parseAllowList)),
  imageAllow: declareSetting('IMAGE_ALLOW', parsedBy(parseAllowList)),
  moderationUrl: declareSetting('MODERATION_URL', baseUrl),
  moderationShape: declareSetting('MODERATION_SHAPE', moderationHookShape, 'openai'),
  moderationModel: declareSetting('MODERATION_MODEL', anyText, hookDefaults.model),
  moderationKey: declareSetting('MODERATION_KEY', anyText),
  moderationTimeoutMs: declareSetting(
    'MODERATION_TIMEOUT_SECONDS',
    secondsAsMs(maxHookSeconds),
    `${hookDefaults.seconds}`,
  ),
  moderationOnError: declareSetting('MODERATION_ON_ERROR', moderationHookOnError, hookDefaults.onError),
  moderationConcurrency: declareSetting(
    'MODERATION_CONCURRENCY',
    wholeNumber(1, maxHookConcurrency),
    `${hookDefaults.concurrency}`,
  ),
  redirectsContent: declareSetting('CONTENT_REDIRECT', onOrOff, 'off'),
  markVideos: declareSetting('MARK_VIDEOS', onOrOff, 'on'),
  trustedProxies: declareSetting('TRUSTED_PROXIES', parsedBy(parseNetworks)),
  catalogue: declareSetting('VIDEOGEN_MODELS', anyText.transform(readCatalogueSetting)),
  generationConcurrency: declareSetting('GENERATION_CONCURRENCY', wholeNumber(1, 10_000), '2'),
  remoteConcurrency: declareSetting('REMOTE_CONCURRENCY', wholeNumber(1, 10_000), '1000'),
  taskConcurrency: declareSetting('TASK_CONCURRENCY', wholeNumber(1, 10_000), '100'),
  // A slow receiver occupies a slot for 15 seconds, and an account at most 16 slots (src/tasks/callbacks/post-callback.ts).
  callbackConcurrency: declareSetting('CALLBACK_CONCURRENCY', wholeNumber(1, 10_000), '500'),
  workerQueues: declareSetting('WORKER_QUEUES', parsedBy(parseQueueNames), queueNames.join(',')),
  workerVersion: declareSetting('WORKER_VERSION', plainName),
  createRate: declareSetting('CREATE_RATE', rate, '20/10s'),
  readRate: declareSetting('READ_RATE', rate, '100/10s'),
  refusedCreateRate: declareSetting('REFUSED_CREATE_RATE', rate, '100/60s'),
  badKeyRate: declareSetting('BAD_KEY_RATE', rate, '20/60s'),
  shutdownDelayMs: declareSetting('SHUTDOWN_DELAY', parsedBy(parseDelay)),
  retentionMs: declareSetting('MEDIA_RETENTION_DAYS', daysAsMs, '14'),
  promptRetentionMs: declareSetting('PROMPT_RETENTION_DAYS', daysAsMs),
  eventRetentionMs: declareSetting('SECURITY_EVENT_RETENTION_DAYS', daysAsMs, '90'),
  userRetentionMs: declareSetting('USER_RETENTION_DAYS', daysAsMs, '90'),
  stuckTaskMs: declareSetting('STUCK_TASK_SECONDS', secondsAsMs(86_400), '600'),
  serviceUrl: declareSetting('VIDEOGEN_BASE_URL', baseUrl),
  apiKey: declareSetting('VIDEOGEN_API_KEY', anyText),
  operatorKey: declareSetting('VIDEOGEN_OPERATOR_KEY', anyText),
  ffmpegPath: declareSetting('FFMPEG_PATH', anyText),
  previewFailures: declareSetting('PREVIEW_FAILURES', zeroOrOne, '0'),
  logLevel: declareSetting('LOG_LEVEL', logLevelName, 'info'),
  path: declareSetting('PATH', anyText, ''),
});

const fields = Object.entries(schema.shape).map(([setting, field]) => ({ setting, ...settingRegistry.get(field) }));
const nameOf = new Map(fields.map(({ setting, variable = '' }) => [setting, variable]));

/** The variable of every setting with its default, which is empty where it has none. */
export const settingDefaults: ReadonlyMap<string, string> = new Map(
  fields.map(({ variable = '', defaultText = '' }) => [variable, defaultText]),
);

/** A demo reads only the paths of programs and downloads. */
const allowedSettings = ['PATH', 'XDG_CACHE_HOME', 'TEMPORAL_CLI_PATH', 'FFMPEG_PATH'];

/**
 * Removes every setting outside `allowedSettings` from the environment, also those that libraries read, so that a demo cannot reach another
 * database, Temporal or store.
 */
export function removeSettingsForDemo(environment: NodeJS.ProcessEnv = process.env): void {
  const settings = new Set([...nameOf.values(), ...secretNames.map((name) => `${name}_FILE`)]);
  for (const name of Object.keys(environment)) {
    const isSetting = settings.has(name) || /^(VIDEOGEN_|TEMPORAL_|OTEL_|PG[A-Z]+$)/.test(name);
    if (isSetting && !allowedSettings.includes(name)) delete environment[name];
  }
}

function configOf(settings: z.output<typeof schema>, env: Record<string, string>) {
  const isEmbedded = settings.databaseUrl === undefined;
  const { oidcIssuer: issuer, oidcClientId: clientId } = settings;
  // Embedded mode runs on the machine of one person, so the addresses of that
  // machine are allowed; a shared service lists the addresses that it allows.
  const defaultAllow = parseAllowList(isEmbedded ? loopbackAllowListText : '');
  return {
    ...settings,
    ...temporalSettings(env),
    isTracing: (settings.otlpTracesEndpoint ?? settings.otlpEndpoint) !== undefined,
    oidc:
      issuer === undefined || clientId === undefined
        ? undefined
        : {
            issuer,
            clientId,
            clientSecret: settings.oidcClientSecret,
            name: settings.oidcName ?? new URL(issuer).hostname,
          },
    ...signUpAndMailSettings(settings),
    ...brandFromSettings(settings),
    callbackAllow: settings.callbackAllow ?? defaultAllow,
    imageAllow: settings.imageAllow ?? defaultAllow,
    trustedProxies: settings.trustedProxies ?? parseNetworks(isEmbedded ? '127.0.0.0/8,::1' : ''),
    /** The catalogue at the start of the process; its secrets are not checked. */
    catalogue: settings.catalogue?.catalogue ?? builtInCatalogue(),
    /** Undefined for the built-in catalogue. */
    catalogueFile: settings.catalogue?.path,
    // A proxy in front of a shared service needs time to notice that `/readyz` is 503.
    shutdownDelayMs: settings.shutdownDelayMs ?? (isEmbedded ? 0 : 8_000),
  };
}

/** Returns every variable that is not empty, and the secrets that are given as files. */
function variablesOf(environment: Environment, problems: string[]): Record<string, string> {
  const isSet = (entry: [string, string | undefined]): entry is [string, string] => (entry[1] ?? '') !== '';
  const env = Object.fromEntries(Object.entries(environment).filter(isSet));
  for (const name of secretNames) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] !== undefined) problems.push(`${name}: is set, and ${name}_FILE too; set only one`);
    try {
      env[name] = readFileSync(file, 'utf8').trim();
    } catch (error) {
      problems.push(`${name}_FILE: ${messageOf(error)}`);
    }
  }
  return env;
}

/** Reads secrets of the catalogue; paths are relative to `folder`. No message repeats a name, a path or a value. */
export function catalogueSecretReader(folder: string, environment: Environment = process.env): SecretReader {
  return (ref) => () => {
    const text = (ref.env === undefined ? secretInFile(resolve(folder, ref.file ?? '')) : environment[ref.env])?.trim();
    if (text === undefined || text === '')
      throw new SetupError('is not set: the variable or file that it names is missing or empty');
    const secret = text.startsWith('{') ? jsonOnOneLine(text) : text;
    // Anything else would break the header that contains the secret.
    if (!/^[\x20-\x7e]{1,10000}$/.test(secret))
      throw new SetupError('must be one line of ASCII in the variable or file that it names');
    return secret;
  };
}
