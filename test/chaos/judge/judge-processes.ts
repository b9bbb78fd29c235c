import type { FullDisk } from '../faults/full-disks.ts';
import type { ProcessEvidence } from './evidence.ts';

/** Only the breaker ends a process of the service, and none outlives it. Returns a sentence for each violation. */
export function judgeProcesses({ ended, unruly, left }: ProcessEvidence): readonly string[] {
  return [
    ...ended.map((one) => `${one}, and nothing had killed it`),
    ...unruly.map((name) => `${name} did not end with 0 after SIGTERM`),
    ...left.map((line) => `a process was left behind: ${line}`),
  ];
}

/** A full disk is noticed, and the service continues without a restart when there is space. Returns a sentence for each violation. */
export function judgeFullDisks(fullDisks: readonly FullDisk[]): readonly string[] {
  return fullDisks.flatMap(({ name, wasNoticed, isUsable }) => [
    ...(wasNoticed ? [] : [`the full disk of the ${name} was never noticed`]),
    ...(isUsable ? [] : [`the disk of the ${name} has space again, and is still not used`]),
  ]);
}
