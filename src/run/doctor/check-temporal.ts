import type { Client } from '@temporalio/client';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { isOlderVersion } from '../../platform/process/compare-versions.ts';
import { type QueueName, taskQueuesOf } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import { connectTemporal, grpcCode, type TemporalTarget } from '../../temporal/connection/connect.ts';
import {
  countPartitions,
  minServerVersion,
  listMissingSearchAttributes,
  readPollers,
  readRetentionMs,
  readServerVersion,
  type QueuePollers,
} from '../../temporal/connection/server-facts.ts';
import { readScheduleState, scheduleNames } from '../../temporal/schedules/schedules.ts';
import { failure, type Finding, ok, unchecked, warning } from './checks-and-findings.ts';

/** Operators read completed workflows the day after. */
const leastRetentionMs = dayMs;

type TemporalToCheck = {
  readonly target: TemporalTarget;
  readonly taskQueue: string;
  /** The queues that need a worker; none if a single process is checked. */
  readonly queues: readonly QueueName[];
};

export async function checkTemporal(given: TemporalToCheck): Promise<readonly Finding[]> {
  const { client, close } = connectTemporal(given.target, { retries: false });
  try {
    const [server, namespace] = [await serverFinding(client, given.target), await namespaceFinding(client)];
    const first = [server, tlsFinding(given.target), namespace];
    if (namespace.state === 'error') return [...first, ...notChecked(given, 'there is no namespace')];
    const { tasks } = taskQueuesOf(given.taskQueue);
    const usesSchedule = given.queues.includes('tasks');
    return [
      ...first,
      await attributesFinding(client),
      await partitionsFinding(client, tasks),
      fairness,
      ...(usesSchedule ? [await schedulesFinding(client, given.taskQueue)] : []),
      ...(await Promise.all(
        given.queues.map((name) =>
          queueFinding(client, given.taskQueue, name).catch((error: unknown) =>
            unchecked(`queue ${name}`, messageOf(error)),
          ),
        ),
      )),
    ];
  } catch (error) {
    const rest = notChecked(given, 'Temporal is unavailable');
    return [
      failure('temporal', ...explainTemporalError(error)),
      unchecked('namespace', rest[0]?.message ?? ''),
      ...rest,
    ];
  } finally {
    await close();
  }
}

function notChecked({ queues }: TemporalToCheck, why: string): Finding[] {
  const names = ['search attributes', 'task queue partitions', 'schedules', ...queues.map((name) => `queue ${name}`)];
  return names.map((name) => unchecked(name, `not checked: ${why}`));
}

async function serverFinding(client: Client, { connection }: TemporalTarget): Promise<Finding> {
  const version = await readServerVersion(client);
  const shown = `Temporal ${version} at ${connection.address}`;
  if (!isOlderVersion(version, minServerVersion)) return ok('temporal', shown);
  const remedy = `Upgrade the server to ${minServerVersion} or newer: accounts do not share generation fairly before.`;
  return failure('temporal', `${shown}: older than ${minServerVersion}`, remedy);
}

export function tlsFinding({ connection: { tls, address = '' } }: TemporalTarget): Finding {
  if (typeof tls === 'object' && tls !== null)
    return ok('temporal tls', tls.clientCertPair === undefined ? 'used' : 'used, with a client certificate');
  if (tls === true) return ok('temporal tls', 'used');
  if (/^(localhost|127\.0\.0\.1|\[::1\]):/.test(address))
    return ok('temporal tls', 'none; Temporal is on this machine');
  return warning(
    'temporal tls',
    'none: everyone who reaches Temporal can control it, and payloads travel unencrypted',
    'Set TEMPORAL_TLS=true and its certificates, or run Temporal on a network of its own.',
  );
}

async function namespaceFinding(client: Client): Promise<Finding> {
  const { namespace } = client.options;
  const retentionMs = await readRetentionMs(client);
  if (retentionMs === undefined)
    return failure(
      'namespace',
      `there is no namespace ${namespace}`,
      `temporal operator namespace create --namespace ${namespace} --retention 7d, or correct TEMPORAL_NAMESPACE`,
    );
  const shown = `${namespace}, completed workflows are retained for ${(retentionMs / dayMs).toFixed(1)} days`;
  if (retentionMs >= leastRetentionMs) return ok('namespace', shown);
  const remedy = `temporal operator namespace update --namespace ${namespace} --retention 7d`;
  return warning('namespace', `${shown}: too short to inspect yesterday's tasks`, remedy);
}

async function attributesFinding(client: Client): Promise<Finding> {
  try {
    const missing = await listMissingSearchAttributes(client);
    if (missing.length === 0) return ok('search attributes', 'registered');
    return failure('search attributes', `not registered: ${missing.join(', ')}`, 'Run "videogen migrate".');
  } catch (error) {
    return unchecked('search attributes', messageOf(error), 'temporal operator search-attribute list');
  }
}

async function partitionsFinding(client: Client, taskQueue: string): Promise<Finding> {
  const check = 'task queue partitions';
  try {
    const partitions = await countPartitions(client, taskQueue);
    if (partitions <= 1) return ok(check, 'one, so that tasks keep their order and accounts share strictly');
    return warning(
      check,
      `${partitions}: tasks may overtake each other`,
      "Set matching.numTaskqueueReadPartitions and matching.numTaskqueueWritePartitions to 1 in Temporal's dynamic configuration.",
    );
  } catch (error) {
    return unchecked(check, messageOf(error), "Check Temporal's dynamic configuration.");
  }
}

const fairness = unchecked(
  'fairness',
  'Temporal does not report whether accounts share generation fairly',
  "Its dynamic configuration must have matching.enableFairness: [{value: true}]; Temporal's log names the file at its start.",
);

async function queueFinding(client: Client, taskQueue: string, name: QueueName): Promise<Finding> {
  const queue = taskQueuesOf(taskQueue)[name];
  const kinds = name === 'tasks' ? (['workflow', 'activity'] as const) : (['activity'] as const);
  const polled = await Promise.all(kinds.map((kind) => readPollers(client, queue, kind)));
  const workers = Math.min(...polled.map((one) => one.workers.length));
  if (workers === 0)
    return failure(
      `queue ${name}`,
      `no worker serves ${queue}, so its work waits`,
      `Start a worker: videogen worker --queues ${name}`,
    );
  const unserved = polled.find((one) => one.workers.every(({ version }) => version !== one.currentVersion));
  if (unserved !== undefined) return versionFailure(`queue ${name}`, taskQueue, unserved);
  return ok(`queue ${name}`, `${queue} is served by ${workers} ${workers === 1 ? 'worker' : 'workers'}`);
}

/** Temporal gives new tasks to one version of workers, and they wait if none has it. */
function versionFailure(check: string, deployment: string, { workers, currentVersion }: QueuePollers): Finding {
  const [running = currentVersion] = workers.flatMap(({ version }) => version ?? []);
  const makeCurrent = `temporal worker deployment set-current-version --deployment-name ${deployment} --build-id`;
  if (currentVersion === undefined)
    return failure(check, 'no version of workers is current, so its work waits', `${makeCurrent} ${running}`);
  return failure(
    check,
    `its work waits for the current version of workers, ${currentVersion}, which no worker has`,
    `Set WORKER_VERSION=${currentVersion} for the workers, or make theirs current: ${makeCurrent} NEW`,
  );
}

async function schedulesFinding(client: Client, taskQueue: string): Promise<Finding> {
  const check = 'schedules';
  const queues = taskQueuesOf(taskQueue);
  const schedules = await Promise.all(scheduleNames.map((name) => readScheduleState(client, queues, name)));
  const missing = schedules.filter(({ state }) => state === 'missing').map(({ id }) => id);
  const [paused] = schedules.filter(({ state }) => state === 'paused');
  if (missing.length > 0)
    return failure(
      check,
      `missing: ${missing.join(', ')}`,
      'Start a worker of the queue tasks; a running one creates missing schedules again within a minute.',
    );
  if (paused === undefined) return ok(check, `${schedules.length} exist, and none is paused`);
  return warning(
    check,
    `${paused.id} is paused`,
    `temporal schedule toggle --unpause --schedule-id ${paused.id} --reason back`,
  );
}

/** Returns in one line why a command cannot use Temporal, and the remedy; undefined if it can. Nothing is retried. */
export async function findTemporalProblem(target: TemporalTarget): Promise<string | undefined> {
  const { client, close } = connectTemporal(target, { retries: false });
  const { address } = target.connection;
  try {
    await readServerVersion(client);
    const { state, message, remedy } = await namespaceFinding(client);
    return state === 'error' ? `Temporal at ${address} cannot be used: ${message}. ${remedy}` : undefined;
  } catch (error) {
    const [message, remedy] = explainTemporalError(error);
    return `Temporal at ${address} cannot be used: ${message}. ${remedy}`;
  } finally {
    await close();
  }
}

/** Returns message and remedy. */
export function explainTemporalError(error: unknown): readonly [string, string] {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const message = messageOf(cause);
  const code = grpcCode(error);
  const isOfTls = /certificate|self.signed|altname|ssl|tls|wrong version/i.test(message);
  return [message, (code === undefined ? undefined : remedies[code]) ?? (isOfTls ? remedyOfTls : remedyOfAddress)];
}

const remedyOfRights = 'Correct TEMPORAL_API_KEY, or the client certificate, and its rights in TEMPORAL_NAMESPACE.';
const remedies: Readonly<Record<number, string>> = {
  7: remedyOfRights,
  12: 'TEMPORAL_ADDRESS is not Temporal, but for example an HTTP server or proxy: set the gRPC port.',
  16: remedyOfRights,
};
const remedyOfTls =
  'Correct TEMPORAL_TLS, TEMPORAL_TLS_SERVER_CA_CERT_PATH and TEMPORAL_TLS_SERVER_NAME, and the client certificate.';
const remedyOfAddress =
  'Check TEMPORAL_ADDRESS, that Temporal runs there, that no firewall is between, and whether it requires TLS (TEMPORAL_TLS=true).';
