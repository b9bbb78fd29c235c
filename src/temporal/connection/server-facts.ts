import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { isNotFound, callWithin } from './connect.ts';
import { readMissingSearchAttributes } from './search-attributes.ts';

// Reads facts about Temporal itself, for operators. Each function rejects if the server or its permissions do not allow the call.

const limitMs = 5_000;

/** Older servers do not share generation fairly between accounts. */
export const minServerVersion = '1.31.2';

export async function readServerVersion(client: Client): Promise<string> {
  const { serverVersion } = await callWithin(client, limitMs, () => client.workflowService.getSystemInfo({}));
  return serverVersion;
}

/** Returns how long ended workflows are retained; undefined if the namespace does not exist. */
export async function readRetentionMs(client: Client): Promise<number | undefined> {
  const { namespace } = client.options;
  try {
    const { config } = await callWithin(client, limitMs, () => client.workflowService.describeNamespace({ namespace }));
    return optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export async function listMissingSearchAttributes(client: Client): Promise<readonly string[]> {
  return callWithin(client, limitMs, () => readMissingSearchAttributes(client));
}

export async function countPartitions(client: Client, taskQueue: string): Promise<number> {
  const request = { namespace: client.options.namespace, taskQueue: { name: taskQueue } };
  const { workflowTaskQueuePartitions, activityTaskQueuePartitions } = await callWithin(client, limitMs, () =>
    client.workflowService.listTaskQueuePartitions(request),
  );
  return Math.max(workflowTaskQueuePartitions.length, activityTaskQueuePartitions.length);
}

/** `TASK_QUEUE_TYPE_WORKFLOW` and `TASK_QUEUE_TYPE_ACTIVITY` of Temporal's API. */
const types = { workflow: 1, activity: 2 } as const;

/** A poll lasts a minute, and Temporal lists a poller for five. */
export const freshPollerMs = 90_000;

/** The workers that have polled a task queue in the last 90 seconds, and the version that gets its tasks. */
export type QueuePollers = {
  readonly workers: readonly { readonly identity: string; readonly version: string | undefined }[];
  /** Undefined if workers without a version get them. */
  readonly currentVersion: string | undefined;
};

export async function readPollers(client: Client, name: string, type: keyof typeof types): Promise<QueuePollers> {
  const request = { namespace: client.options.namespace, taskQueue: { name }, taskQueueType: types[type] };
  const described = await callWithin(client, limitMs, () => client.workflowService.describeTaskQueue(request));
  const fresh = described.pollers.filter(
    ({ lastAccessTime }) => Date.now() - (optionalTsToMs(lastAccessTime) ?? 0) < freshPollerMs,
  );
  const workers = new Map(
    fresh.map(({ identity, deploymentOptions: of }) => {
      // `WORKER_VERSIONING_MODE_VERSIONED` of Temporal's API; a worker without a version may have a build id, too.
      const isVersioned = Number(of?.workerVersioningMode) === 2;
      return [identity ?? '', (isVersioned && of?.buildId) || undefined] as const;
    }),
  );
  return {
    workers: [...workers].map(([identity, version]) => ({ identity, version })),
    currentVersion: described.versioningInfo?.currentDeploymentVersion?.buildId || undefined,
  };
}
