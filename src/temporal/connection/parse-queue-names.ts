import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import { type QueueName, queueNames } from './queue-names-and-workflow-ids.ts';

/** Parses a list such as `tasks,callbacks`, into the order of `queueNames`. Throws for an unknown name and for an empty list. */
export function parseQueueNames(text: string): readonly QueueName[] {
  const requested = text.split(/[\s,]+/).filter((name) => name !== '');
  if (requested.length === 0) throw new Error(`must name at least one of ${queueNames.join(', ')}`);
  const names: readonly string[] = queueNames;
  const unknown = requested.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Error(unknown.map((name) => `"${name}": ${unknownNameMessage('queue', name, queueNames)}`).join('; '));
  return queueNames.filter((name) => requested.includes(name));
}
