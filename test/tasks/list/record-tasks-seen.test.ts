import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadTaskRecorder } from '../../../src/tasks/list/record-tasks-seen.ts';
import { recordLog } from '../../support/log-lines.ts';

const key = (keyId: string) => ({ kind: 'key', keyId }) as const;
const tasks = (...taskIds: readonly string[]) => taskIds.map((taskId) => ({ taskId }));

function seenTasks() {
  const state = { recorded: [] as unknown[], isDown: false };
  const run = async (_statement: unknown, values: readonly unknown[] = []) => {
    if (state.isDown) throw new Error('down');
    state.recorded.push(values);
    return [];
  };
  const { log, lines } = recordLog();
  return { state, lines, seen: createReadTaskRecorder({ run }, log) };
}

test('the tasks that a key reads are recorded once for each key, and those of a person not at all', async () => {
  const { state, seen } = seenTasks();
  const person = { kind: 'person', userId: 'u', email: 'a@b.example', isRecent: true } as const;
  await seen.record(person, tasks('a'));
  await seen.record(key('one'), tasks('a', 'b'));
  await seen.record(key('one'), tasks('b', 'a'));
  await seen.record(key('one'), tasks('b', 'c'));
  await seen.record(key('two'), tasks('a'));
  await seen.record(key('two'), []);
  assert.deepEqual(state.recorded, [
    [['a', 'b'], 'one'],
    [['c'], 'one'],
    [['a'], 'two'],
  ]);
});

test('a read succeeds while it cannot be recorded, and is recorded with the next one', async () => {
  const { state, lines, seen } = seenTasks();
  state.isDown = true;
  await seen.record(key('one'), tasks('a'));
  state.isDown = false;
  await seen.record(key('one'), tasks('a'));
  assert.deepEqual(state.recorded, [[['a'], 'one']]);
  const [{ err, ...line } = assert.fail(), ...others] = lines;
  assert.deepEqual([line, others], [{ level: 40, msg: 'read of tasks not recorded' }, []]);
  assert.equal((err as Error).message, 'down'); // as pino writes an error
});
