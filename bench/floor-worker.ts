import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { mainQueue } from '../src/main/start-worker.ts';

// A process of its own: workers set up like ours, with activities that do nothing. Asked over its channel, it says how many
// bare tasks have ended; it says by itself when one begins its generation.

const { TEMPORAL_ADDRESS: address = '', VIDEOGEN_TASK_QUEUE: queue = '', LAST_STEP: lastStep } = process.env;
let completed = 0;
const ending = (step: string) => () => {
  if (step === lastStep) completed += 1;
  return Promise.resolve();
};
const activities = {
  chargeCredits: () => Promise.resolve({ accountId: 'bare', model: 'bare' }),
  generateVideo: ({ taskId }: { taskId: string }) => {
    process.send?.({ began: taskId, at: performance.timeOrigin + performance.now() });
    return Promise.resolve({ key: 'bare' });
  },
  storeResult: () => Promise.resolve({}),
  completeTask: ending('completeTask'),
  sendCallback: ending('sendCallback'),
};

Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
const { workflowBundle: _ours, ...tuning } = mainQueue;
const connection = await NativeConnection.connect({ address });
const workers = [
  await Worker.create({
    connection,
    ...tuning,
    taskQueue: queue,
    activities,
    workflowsPath: fileURLToPath(new URL('./floor-workflow.js', import.meta.url)),
  }),
  await Worker.create({
    connection,
    taskQueue: `${queue}-generation`,
    activities,
    maxConcurrentActivityTaskExecutions: 100,
    maxHeartbeatThrottleInterval: '1s',
  }),
  await Worker.create({
    connection,
    taskQueue: `${queue}-callbacks`,
    activities,
    maxConcurrentActivityTaskExecutions: 100,
  }),
];
process.on('message', () => process.send?.({ completed }));
process.once('SIGTERM', () => process.exit(0));
process.send?.('ready');
await Promise.all(workers.map((worker) => worker.run()));
