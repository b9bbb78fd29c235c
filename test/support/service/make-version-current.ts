import type { Client } from '@temporalio/client';
import type { TestEnvironment } from './test-service.ts';
import { waitFor } from '../wait-for.ts';

/** `TASK_QUEUE_TYPE_WORKFLOW` of Temporal's API. */
const workflowTasks = 1;

/**
 * Does what `temporal worker deployment set-current-version` does, and waits until the task queue follows it.
 * Temporal accepts it only after it has registered the version.
 */
export async function makeCurrent(client: Client, { settings }: TestEnvironment, buildId: string): Promise<void> {
  const { namespace } = settings.temporal;
  const set = { namespace, deploymentName: settings.taskQueue, buildId, identity: 'a test' };
  await waitFor(`version ${buildId}`, async () => {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion(set);
      return true;
    } catch {
      return undefined;
    }
  });
  await waitFor(`tasks to go to version ${buildId}`, async () => {
    const { versioningInfo } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: settings.taskQueue },
      taskQueueType: workflowTasks,
    });
    return versioningInfo?.currentDeploymentVersion?.buildId === buildId ? true : undefined;
  });
}
