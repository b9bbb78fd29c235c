import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeLimitRows } from '../../src/run/time-limit-reference.ts';

/** The times as users rely on them, in the order of their table: each unit, and the sum of the pauses between callbacks, is among them. */
const times: readonly (readonly [about: RegExp, after: string])[] = [
  [/commit of a create is retried/, '2 seconds'],
  [/commit stays uncertain/, '20 seconds'],
  [/an SDK counts as a retry/, '1 minute'],
  [/starts the workflow of a task that has none/, '10 seconds'],
  [/waits in all, for workers, slots and the store/, '1 day'],
  [/deadline of a model that declares none/, '30 minutes'],
  [/refunds a task that is past its limits/, '2 minutes'],
  [/attempt notices that its task has ended/, '3 seconds'],
  [/create in flight may still answer/, '10 seconds'],
  [/answer that it has stopped a job/, '15 seconds'],
  [/“No such job”/, '1 minute'],
  [/lost create is looked up in a list/, '2 minutes'],
  [/lost create is looked up while answers cannot be read/, '10 minutes'],
  [/stops a job that no task waits for/, '30 seconds'],
  [/terminates the workflow of a canceled task/, '10 minutes'],
  [/receiver may take to answer/, '15 seconds'],
  [/attempts at a callback take, to a receiver without/, '76 hours'],
  [/attempts at a callback take, at most, to a receiver that sends/, '9 days'],
  [/sends a callback that is overdue/, '1 minute'],
  [/stopping API/, '15 seconds'],
  [/stopping worker lets its activities end/, '5 seconds'],
  [/stopping worker ends/, '20 seconds'],
  [/stopping process exits/, '45 seconds'],
  [/link to a video or poster/, '1 day'],
  [/previous `VIDEOGEN_SECRET`/, '2 days'],
  [/cached API key/, '30 seconds'],
  [/Media of a failed task/, '1 hour'],
  [/expired upload/, '50 hours'],
  [/request log/, '7 days'],
  [/attempts at creates/, '7 days'],
  [/One-time links/, '7 days'],
  [/Attempts at callbacks, and events/, '90 days'],
];

test('the table has each time without a setting, at its own value, in its largest whole unit', () => {
  assert.deepEqual(
    timeLimitRows.map(([, after]) => after),
    times.map(([, after]) => after),
  );
  for (const [index, [about]] of times.entries()) assert.match(timeLimitRows[index]?.[0] ?? '', about);
});
