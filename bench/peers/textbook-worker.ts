import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { tasksQueueOptions } from '../../src/run/main/worker-options.ts';

// A separate process: the worker of the textbook task, tuned like ours. Its
// charge is empty: a real one would need a database of its own.

const activities = {
  charge: () => Promise.resolve(),
  generate: (taskId: string) => {
    process.send?.({ done: taskId, at: performance.timeOrigin + performance.now() });
    return Promise.resolve();
  },
  callBack: async ({ taskId, url }: { taskId: string; url: string }) => {
    const body = JSON.stringify({ code: 200, msg: 'success', data: { taskId, state: 'success' } });
    const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    await answer.arrayBuffer();
  },
};
export type TextbookActivities = typeof activities;

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const { TEMPORAL_ADDRESS: address = '', VIDEOGEN_TASK_QUEUE: taskQueue = '' } = process.env;
const { workflowBundle: _ours, ...tuning } = tasksQueueOptions;
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  ...tuning,
  taskQueue,
  activities,
  workflowsPath: fileURLToPath(new URL('./textbook-workflow.js', import.meta.url)),
});
process.once('SIGTERM', () => process.exit(0));
process.send?.('ready');
await worker.run();
