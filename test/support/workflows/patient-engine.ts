import type { WorkflowEngine } from '../../../src/catalogue/tasks/workflow-engine.ts';
import { isUnavailable } from '../../../src/temporal/connection/connect.ts';
import { waitFor } from '../wait-for.ts';

/**
 * The engine for tests. Its calls time out after some seconds, which a busy server may exceed. The service then repeats a call later; this
 * one repeats those that change nothing when they are repeated.
 */
export function patientEngine(engine: WorkflowEngine): WorkflowEngine {
  return {
    ...engine,
    startTask: (task) => untilAnswered(() => engine.startTask(task)),
    startClosing: (accountId) => untilAnswered(() => engine.startClosing(accountId)),
    startDelivery: (delivery) => untilAnswered(() => engine.startDelivery(delivery)),
    cancelWorkflow: (taskId) => untilAnswered(() => engine.cancelWorkflow(taskId)),
    describeTask: (taskId) => untilAnswered(() => engine.describeTask(taskId)),
  };
}

async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  const { answer } = await waitFor('an answer of Temporal', async () => {
    try {
      return { answer: await call() };
    } catch (error) {
      if (isUnavailable(error)) return undefined;
      throw error;
    }
  });
  return answer;
}
