import type { Config } from '../config/config.ts';
import { type QueueName, queueNames } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import type { TemporalTarget } from '../../temporal/connection/connect.ts';
import { defaultStoreLocation } from '../../media/store/open-store.ts';
import { workFolderOf } from '../config/complete-settings-and-derived-values.ts';
import { checkDatabase } from './check-database.ts';
import { checkWorkflowBundle, checkFfmpeg, checkFolders, checkFonts, checkMemory, checkNode } from './check-machine.ts';
import {
  checkAllowList,
  checkCatalogue,
  resubmittingProvidersFinding,
  checkPublicUrl,
  checkSecretEntropy,
} from './check-risky-settings.ts';
import { checkStoreAndNamespaceOwner } from './check-store-and-namespace-owner.ts';
import { checkMailServer } from './check-mail.ts';
import { checkModeration } from './check-moderation.ts';
import { checkEmbeddedFolderDisk, checkStore } from './check-store-and-disk.ts';
import { checkTemporal } from './check-temporal.ts';
import { type Finding, runChecks, unchecked, redactSecretsInFindings } from './checks-and-findings.ts';

/** `all` checks the whole installation; the others check what one process of that role needs to start and to work. */
export const doctorRoles = ['all', 'api', 'worker'] as const;
export type DoctorRole = (typeof doctorRoles)[number];

const checkLimitMs = 15_000;

/** Addresses of the parts that `npm start` runs; undefined while they do not run. */
export type FoundDependencies = {
  readonly databaseUrl: string | undefined;
  readonly temporal: TemporalTarget | undefined;
  readonly secret: string | undefined;
  /** The folders of these parts by name. */
  readonly folders?: Readonly<Record<string, string>>;
};

/** The checks that need no usable configuration. */
export function checkNodeAndMemory(): readonly Finding[] {
  return [checkNode(), checkMemory(true)];
}

/** Checks everything that this role needs. Writes only probe files, and deletes them. */
export async function runDoctorChecks(
  config: Config,
  running: FoundDependencies,
  role: DoctorRole,
): Promise<readonly Finding[]> {
  const scope = scopeOf(config, running, role);
  const needed = checks.filter(({ isNeeded = always }) => isNeeded(scope));
  const runs = needed.map(({ name, run }) => ({ name, run: async (signal: AbortSignal) => run(scope, signal) }));
  return redactSecretsInFindings(
    redirectAdviceToCause(await runChecks(runs, checkLimitMs)),
    secretsToRedact(config, running),
  );
}

/** A full disk breaks the database, and a database that rejects its user breaks what reads it, so their advice would mislead. */
export function redirectAdviceToCause(findings: readonly Finding[]): readonly Finding[] {
  const isDisk = ({ state, message }: Finding) => state === 'error' && /^disk (?:full|read-only)/.test(message);
  const [disk] = findings.filter(isDisk);
  const database = findings.find(({ check, state }) => check === 'database' && state === 'error');
  const followers = ['installation', ...(disk === undefined ? [] : ['database', 'temporal'])];
  const cause = disk?.check ?? database?.check;
  if (cause === undefined) return findings;
  const others = findings
    .filter((finding) => !isDisk(finding))
    .map((finding) =>
      followers.includes(finding.check) && finding.state === 'error'
        ? { ...finding, remedy: `Correct "${cause}" first, then run doctor again.` }
        : finding,
    );
  return [...findings.filter(isDisk), ...others];
}

type Scope = FoundDependencies & {
  readonly config: Config;
  readonly role: DoctorRole;
  readonly serves: (...names: readonly QueueName[]) => boolean;
  readonly usesFiles: boolean;
  readonly isShared: boolean;
  readonly workFolder: string;
};

type DoctorCheck = {
  readonly name: string;
  /** True if the role in `scope` needs the check, which is the default. */
  readonly isNeeded?: (scope: Scope) => boolean;
  readonly run: (scope: Scope, signal: AbortSignal) => readonly Finding[] | Promise<readonly Finding[]>;
};

const embedded = 'not running; "npm start" runs one';

const checks: readonly DoctorCheck[] = [
  { name: 'settings', run: settingFindings },
  {
    name: 'database',
    run: ({ config, databaseUrl: url, secret }) =>
      url === undefined ? [unchecked('database', embedded)] : checkDatabase(url, { ...config, secret }),
  },
  {
    name: 'temporal',
    run: ({ config, temporal: target, role }) => {
      const queues = queueNames.filter((name) => role === 'all' && isQueueUsed(config, name));
      return target === undefined
        ? [unchecked('temporal', embedded)]
        : checkTemporal({ target, taskQueue: config.taskQueue, queues });
    },
  },
  {
    name: 'result store',
    isNeeded: ({ usesFiles }) => usesFiles,
    run: ({ config, workFolder }) =>
      checkStore('RESULT_STORE', config.resultStore ?? defaultStoreLocation(config), config, workFolder),
  },
  {
    name: 'installation',
    isNeeded: ({ usesFiles }) => usesFiles,
    run: ({ config, databaseUrl: url, temporal }) =>
      url === undefined
        ? []
        : checkStoreAndNamespaceOwner(url, config, temporal?.namespace ?? config.temporalNamespace),
  },
  {
    name: 'second result store',
    isNeeded: ({ usesFiles }) => usesFiles,
    run: ({ config, workFolder }) =>
      config.resultStoreAlso === undefined
        ? []
        : checkStore('RESULT_STORE_ALSO', config.resultStoreAlso, config, workFolder),
  },
  {
    name: 'mail server',
    isNeeded: ({ role }) => role !== 'worker',
    run: async ({ config: { smtp } }) => (smtp === undefined ? [] : [await checkMailServer(smtp)]),
  },
  {
    name: 'moderation',
    isNeeded: ({ role }) => role !== 'worker',
    run: ({ config, role }) => checkModeration(config, { isApi: role === 'api' }),
  },
  {
    name: 'work folder',
    isNeeded: ({ usesFiles }) => usesFiles,
    run: ({ role, workFolder }) => checkFolders(workFolder, role !== 'api'),
  },
  {
    name: 'folders',
    isNeeded: ({ role }) => role === 'all',
    run: async ({ folders = {} }) =>
      (await Promise.all(Object.entries(folders).map(([name, path]) => checkEmbeddedFolderDisk(name, path)))).flat(),
  },
  {
    name: 'ffmpeg',
    isNeeded: ({ serves }) => serves('tasks', 'generation', 'generation-remote'),
    run: ({ config }, signal) => checkFfmpeg(config.ffmpegPath, signal),
  },
  { name: 'fonts', isNeeded: ({ serves }) => serves('generation'), run: checkFonts },
  { name: 'workflows', isNeeded: ({ serves }) => serves('tasks'), run: checkWorkflowBundle },
  { name: 'machine', run: ({ usesFiles }) => [checkNode(), checkMemory(usesFiles)] },
];

const always = () => true;

function settingFindings({ config, secret, role, serves, isShared }: Scope): readonly Finding[] {
  const sendsCallbacks = role === 'api' || serves('callbacks');
  const fetchesImages = serves('generation', 'generation-remote');
  return [
    ...(secret === undefined ? [] : [checkSecretEntropy(secret)]),
    ...(role === 'worker' && !isShared ? [] : [checkPublicUrl(config)]),
    ...(sendsCallbacks ? [checkAllowList('CALLBACK_ALLOW', config.callbackAllow, isShared)] : []),
    ...(fetchesImages ? [checkAllowList('IMAGE_ALLOW', config.imageAllow, isShared)] : []),
    ...checkCatalogue(config, serves('tasks', 'generation-remote')),
    ...resubmittingProvidersFinding(config),
  ];
}

function scopeOf(config: Config, running: FoundDependencies, role: DoctorRole): Scope {
  const queues = role === 'api' ? [] : role === 'worker' ? config.workerQueues : queueNames;
  const serves: Scope['serves'] = (...names) => queues.some((name) => names.includes(name));
  return {
    ...running,
    config,
    role,
    serves,
    usesFiles: role !== 'worker' || serves('tasks', 'generation', 'generation-remote'),
    isShared: config.databaseUrl !== undefined,
    workFolder: workFolderOf(config),
  };
}

function isQueueUsed({ catalogue }: Config, name: QueueName): boolean {
  const models = [...catalogue.models.values()];
  if (name === 'generation') return models.some(({ isRemote }) => !isRemote);
  if (name === 'generation-remote') return models.some(({ isRemote }) => isRemote);
  return true;
}

export function secretsToRedact(
  config: Config,
  { databaseUrl, temporal, secret }: FoundDependencies,
): readonly (string | undefined)[] {
  const apiKey = temporal?.connection.apiKey;
  const key = typeof apiKey === 'string' ? apiKey : undefined;
  return [
    secret,
    databaseUrl,
    ...passwordIn(databaseUrl),
    key,
    config.apiKey,
    config.operatorKey,
    config.oidcClientSecret,
    config.moderationKey,
    config.stripeSecretKey,
    config.stripeWebhookSecret,
    ...passwordIn(config.smtp?.url),
    ...(config.secretPrevious ?? []),
  ];
}

function passwordIn(url: string | undefined): readonly string[] {
  if (url === undefined) return [];
  const { password } = new URL(url);
  return [password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
