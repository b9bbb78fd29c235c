import { type Command, InvalidArgumentError } from 'commander';
import { messageOf } from '../../../platform/setup-errors-and-error-messages.ts';
import { type QueueName, queueNames } from '../../../temporal/connection/queue-names-and-workflow-ids.ts';
import { parseQueueNames } from '../../../temporal/connection/parse-queue-names.ts';
import { addCommand } from '../add-command.ts';

export function addWorkerCommand(program: Command): void {
  addCommand(program, 'worker', '', '--queues tasks,callbacks')
    .description('run only workers, with an external PostgreSQL and Temporal')
    .option('--queues <list>', `some of ${queueNames.join(',')}; by default, WORKER_QUEUES or all of them`, queueList)
    .action(async ({ queues }: { queues?: readonly QueueName[] }) => {
      const { runWorker } = await import('../../main/run-worker.ts');
      await runWorker(queues === undefined ? {} : { workerQueues: queues });
    });
}

function queueList(text: string): readonly QueueName[] {
  try {
    return parseQueueNames(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
