import { unknownName } from '../platform/did-you-mean.ts';
import type { TaskQueues } from './task-queues.ts';

/** The queues of an installation, as an operator names them; a worker serves some of them, or all. */
export const queueNames = ['tasks', 'generation', 'generation-remote', 'callbacks'] as const;
export type QueueName = (typeof queueNames)[number];

/** Returns the name of a queue in Temporal. */
export function taskQueueOf(queues: TaskQueues, name: QueueName): string {
  return queues[fields[name]];
}

const fields = {
  tasks: 'main',
  generation: 'generation',
  'generation-remote': 'remote',
  callbacks: 'callbacks',
} as const satisfies Record<QueueName, keyof TaskQueues>;

/** Parses a list such as `tasks,callbacks`, into the order of `queueNames`. Throws for an unknown name and for an empty list. */
export function parseQueueNames(text: string): readonly QueueName[] {
  const requested = text.split(/[\s,]+/).filter((name) => name !== '');
  if (requested.length === 0) throw new Error(`must name at least one of ${queueNames.join(', ')}`);
  const names: readonly string[] = queueNames;
  const unknown = requested.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Error(unknown.map((name) => `"${name}": ${unknownName('queue', name, queueNames)}`).join('; '));
  return queueNames.filter((name) => requested.includes(name));
}
