import type { Config } from '../../config.ts';
import { type QueueName, queueNames } from '../../domain/worker-queues.ts';
import type { TemporalTarget } from '../../temporal/connect.ts';
import { usualStore } from '../open-store.ts';
import { settingsWith } from '../settings.ts';
import { checkDatabase } from './check-database.ts';
import { checkBundle, checkFfmpeg, checkFolders, checkFonts, checkMemory, checkNode } from './check-machine.ts';
import { checkAllowList, checkCatalogue, checkPublicUrl, checkRetention, checkSecret } from './check-settings.ts';
import { checkStore } from './check-store.ts';
import { checkTemporal } from './check-temporal.ts';
import { type Check, type Finding, runChecks, unknown, withoutSecrets } from './finding.ts';

/** `all` looks at the whole installation; the others at what one process of that role needs to start and to work. */
export const doctorRoles = ['all', 'api', 'worker'] as const;
export type DoctorRole = (typeof doctorRoles)[number];

/** Of each check; all of them run beside each other. */
const checkLimitMs = 15_000;

/** Where the parts are that the configuration leaves to `npm start`; undefined while they do not run. */
export type RunningParts = {
  readonly databaseUrl: string | undefined;
  readonly temporal: TemporalTarget | undefined;
  readonly secret: string | undefined;
};

/** What can be said without a usable configuration. */
export function examineMachine(): readonly Finding[] {
  return [checkNode(), checkMemory(true)];
}

/** Looks at everything that this role needs. Nothing is changed but files and objects that are made and deleted again. */
export async function examine(config: Config, running: RunningParts, role: DoctorRole): Promise<readonly Finding[]> {
  const findings = await runChecks(checksOf(config, running, role), checkLimitMs);
  return withoutSecrets(findings, secretsOf(config, running));
}

function checksOf(config: Config, running: RunningParts, role: DoctorRole): readonly Check[] {
  const {
    resultStore = usualStore(config),
    resultStoreAlso,
    databasePoolSize: poolSize,
    taskQueue,
    secretPrevious,
  } = config;
  const { databaseUrl, temporal, secret } = running;
  const queues = role === 'api' ? [] : role === 'worker' ? config.workerQueues : queueNames;
  const serves = (...names: readonly QueueName[]) => queues.some((name) => names.includes(name));
  const touchesFiles = role !== 'worker' || serves('tasks', 'generation', 'generation-remote');
  const isShared = config.databaseUrl !== undefined;
  const { workFolder } = settingsWith(config, { ...nowhere, resultStore });
  const isNeeded = (name: QueueName) => role === 'all' && isQueueUsed(config, name);
  const embedded = 'not running; "npm start" runs one';
  const checks: readonly (Check | false)[] = [
    {
      name: 'settings',
      run: async () => [
        ...(secret === undefined ? [] : [checkSecret(secret)]),
        ...(role === 'worker' && !isShared ? [] : [checkPublicUrl(config)]),
        ...(serves('callbacks') || role === 'api'
          ? [checkAllowList('CALLBACK_ALLOW', config.callbackAllow, isShared)]
          : []),
        ...(serves('generation', 'generation-remote')
          ? [checkAllowList('IMAGE_ALLOW', config.imageAllow, isShared)]
          : []),
        ...(serves('tasks') ? [checkRetention(config)] : []),
        ...checkCatalogue(config, serves('tasks', 'generation-remote')),
      ],
    },
    {
      name: 'database',
      run: async () =>
        databaseUrl === undefined
          ? [unknown('database', embedded)]
          : await checkDatabase({ url: databaseUrl, poolSize, secret, secretPrevious }),
    },
    {
      name: 'temporal',
      run: async () =>
        temporal === undefined
          ? [unknown('temporal', embedded)]
          : await checkTemporal({ target: temporal, taskQueue, queues: queueNames.filter(isNeeded) }),
    },
    touchesFiles && {
      name: 'result store',
      run: () => checkStore('RESULT_STORE', resultStore, config, workFolder),
    },
    touchesFiles &&
      resultStoreAlso !== undefined && {
        name: 'second result store',
        run: () => checkStore('RESULT_STORE_ALSO', resultStoreAlso, config, workFolder),
      },
    touchesFiles && { name: 'work folder', run: () => checkFolders(workFolder, role !== 'api') },
    serves('tasks', 'generation') && { name: 'ffmpeg', run: (signal) => checkFfmpeg(config.ffmpegPath, signal) },
    serves('generation') && { name: 'fonts', run: checkFonts },
    { name: 'workflows', run: () => checkBundle(queues) },
    { name: 'machine', run: async () => [checkNode(), checkMemory(touchesFiles)] },
  ];
  return checks.filter((check) => check !== false);
}

/** Only for the folder in which attempts keep their files. */
const nowhere = { databaseUrl: '', temporal: { connection: {}, namespace: '' }, embeddedPorts: [], secret: '' };

/** Whether a task of this catalogue, or its callback, ever comes to the queue. */
function isQueueUsed({ catalogue }: Config, name: QueueName): boolean {
  const models = [...catalogue.models.values()];
  if (name === 'generation') return models.some(({ isRemote }) => !isRemote);
  if (name === 'generation-remote') return models.some(({ isRemote }) => isRemote);
  return true;
}

/** What must not be shown, whatever an error says. */
function secretsOf(config: Config, { databaseUrl, temporal, secret }: RunningParts): readonly (string | undefined)[] {
  const { password } = databaseUrl === undefined ? { password: '' } : new URL(databaseUrl);
  const apiKey = temporal?.connection.apiKey;
  const key = typeof apiKey === 'string' ? apiKey : undefined;
  return [
    secret,
    databaseUrl,
    password,
    decoded(password),
    key,
    config.apiKey,
    config.oidcClientSecret,
    ...(config.secretPrevious ?? []),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
