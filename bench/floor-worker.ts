import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { tasksQueueOptions } from '../src/run/main/worker-options.ts';

// A separate process: a worker tuned like ours, with activities that do
// nothing. It returns the number of completed tasks when it gets a message.

const { TEMPORAL_ADDRESS: address = '', VIDEOGEN_TASK_QUEUE: taskQueue = '' } = process.env;
let completed = 0;
const activities = {
  nothing: () => Promise.resolve(),
  ended: () => {
    completed += 1;
    return Promise.resolve();
  },
};
export type BareActivities = typeof activities;

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const { workflowBundle: _ours, ...tuning } = tasksQueueOptions;
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  ...tuning,
  taskQueue,
  activities,
  workflowsPath: fileURLToPath(new URL('./floor-workflow.js', import.meta.url)),
});
process.on('message', () => process.send?.({ completed }));
process.once('SIGTERM', () => process.exit(0));
process.send?.('ready');
await worker.run();
