import { unknownName } from './did-you-mean.ts';
import type { TaskQueues } from './task-queues.ts';

/** The queues of an installation, as an operator names them; a worker serves some of them, or all. */
export const queueNames = ['tasks', 'generation', 'generation-remote', 'callbacks'] as const;
export type QueueName = (typeof queueNames)[number];

/** Under which name Temporal knows a queue. */
export function taskQueueOf(queues: TaskQueues, name: QueueName): string {
  return queues[fields[name]];
}

const fields = {
  tasks: 'main',
  generation: 'generation',
  'generation-remote': 'remote',
  callbacks: 'callbacks',
} as const satisfies Record<QueueName, keyof TaskQueues>;

/** `tasks,callbacks`; in the order of `queueNames`. Throws for a name that is unknown, and for none at all. */
export function parseQueueNames(text: string): readonly QueueName[] {
  const wanted = text.split(/[\s,]+/).filter((name) => name !== '');
  if (wanted.length === 0) throw new Error(`must name at least one of ${queueNames.join(', ')}`);
  const names: readonly string[] = queueNames;
  const faults = wanted.filter((name) => !names.includes(name));
  if (faults.length > 0)
    throw new Error(faults.map((name) => `"${name}": ${unknownName('queue', name, queueNames)}`).join('; '));
  return queueNames.filter((name) => wanted.includes(name));
}
