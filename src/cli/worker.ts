import { type Command, InvalidArgumentError } from 'commander';
import { parseQueueNames, type QueueName, queueNames } from '../domain/worker-queues.ts';

export function addWorkerCommand(program: Command): void {
  program
    .command('worker')
    .description('run workers alone, for a PostgreSQL and a Temporal that run elsewhere')
    .option('--queues <list>', `some of ${queueNames.join(',')}; without it, WORKER_QUEUES or all of them`, queueList)
    .action(async ({ queues }: { queues?: readonly QueueName[] }) => {
      const { runWorker } = await import('../main/run-worker.ts');
      await runWorker(queues === undefined ? {} : { workerQueues: queues });
    });
}

function queueList(text: string): readonly QueueName[] {
  try {
    return parseQueueNames(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
