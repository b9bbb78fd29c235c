import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';

/** Attempts that fail are the point of these tests and need no line each. */
const logger = new DefaultLogger('ERROR', () => {});

type AttemptInfo = {
  readonly workflowId: string;
  readonly attempt?: number;
  /** The details of the last attempt's last heartbeat. */
  readonly heartbeatDetails?: unknown;
  readonly onHeartbeat?: (details: unknown) => void;
};

/** Runs an activity without an engine, as an attempt of the workflow that has this id. */
export async function silentActivity<T>(
  { workflowId, attempt = 1, heartbeatDetails, onHeartbeat }: AttemptInfo,
  work: () => Promise<T>,
): Promise<T> {
  const info = { attempt, heartbeatDetails, workflowExecution: { workflowId, runId: 'run' } };
  const environment = new MockActivityEnvironment(info, { logger });
  if (onHeartbeat !== undefined) environment.on('heartbeat', onHeartbeat);
  // The environment types its answer as unknown; it is what `work` answers.
  return (await environment.run(work)) as T;
}
