import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

/** Attempts that fail are the point of these tests and need no line each. */
const logger = new DefaultLogger('ERROR', () => {});

/** Runs an activity without an engine, as an attempt of the workflow that has this id. */
export async function silentActivity<T>(
  { workflowId, attempt = 1 }: { readonly workflowId: string; readonly attempt?: number },
  work: () => Promise<T>,
): Promise<T> {
  const info = { attempt, workflowExecution: { workflowId, runId: 'run' } };
  // The environment types its answer as unknown; it is what `work` answers.
  return (await new MockActivityEnvironment(info, { logger }).run(work)) as T;
}
