import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeFullDisks, judgeProcesses } from './judge-processes.ts';

const quiet = { ended: [], unruly: [], left: [] };

test('the check of processes finds those that end on their own, do not stop, or are left behind', () => {
  assert.deepEqual(judgeProcesses(quiet), []);
  assert.deepEqual(judgeProcesses({ ended: ['API 1 ended with 1'], unruly: ['worker 2'], left: ['7 ffmpeg -i a'] }), [
    'API 1 ended with 1, and nothing had killed it',
    'worker 2 did not end with 0 after SIGTERM',
    'a process was left behind: 7 ffmpeg -i a',
  ]);
});

test('the check of full disks finds one that was not noticed, and one that is not used when it has space', () => {
  assert.deepEqual(judgeFullDisks([{ name: 'log', wasNoticed: true, isUsable: true }]), []);
  assert.deepEqual(
    judgeFullDisks([
      { name: 'result store', wasNoticed: false, isUsable: true },
      { name: 'PostgreSQL', wasNoticed: true, isUsable: false },
    ]),
    [
      'the full disk of the result store was never noticed',
      'the disk of the PostgreSQL has space again, and is still not used',
    ],
  );
});
