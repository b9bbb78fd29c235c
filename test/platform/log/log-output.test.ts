import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createLogOutput, type WriteCalls } from '../../../src/platform/log/log-output.ts';
import { waitFor } from '../../support/wait-for.ts';

const full = () => Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });

/** A file that is full while `isFull`, and accepts `room` bytes before that. */
function fullFile() {
  const file = { isFull: false, room: 0, text: '', failures: 0 };
  const take = (bytes: Uint8Array): number => {
    const taken = file.isFull ? Math.min(file.room, bytes.length) : bytes.length;
    if (taken === 0 && bytes.length > 0) {
      file.failures += 1;
      throw full();
    }
    file.room -= taken;
    file.text += Buffer.from(bytes.subarray(0, taken)).toString();
    return taken;
  };
  const calls: WriteCalls = {
    writeSync: (_fd, bytes) => take(bytes),
    write: (_fd, bytes, done) => {
      setImmediate(() => {
        let written = 0;
        try {
          written = take(bytes);
        } catch (error) {
          return done(error as Error, 0); // thrown above
        }
        return done(null, written);
      });
    },
  };
  return { file, calls };
}

test('a full disk drops the lines that do not fit and counts them, and the next lines are written once there is space', async () => {
  const { file, calls } = fullFile();
  const output = createLogOutput(1, calls);
  output.write('{"msg":"before"}\n');
  await waitFor('the first line', () => (file.text !== '' ? true : undefined));
  Object.assign(file, { isFull: true, room: 5 });
  output.write('{"msg":"lost"}\n');
  output.write('{"msg":"lost too"}\n');
  await waitFor('the failure', () => output.failure());
  assert.deepEqual([output.failure(), output.takeDropped(), output.takeDropped()], ['ENOSPC', 2, 0]);
  file.isFull = false;
  output.write('{"msg":"after"}\n');
  await waitFor('the recovery', () => (output.failure() === undefined ? true : undefined));
  assert.deepEqual(
    file.text.split('\n'),
    ['{"msg":"before"}', '{"msg', '{"msg":"after"}', ''],
    'a line that was cut off spoils no other',
  );
});

test('a process that ends while the disk is full ends', () => {
  const { file, calls } = fullFile();
  const output = createLogOutput(1, calls);
  file.isFull = true;
  output.write('last\n');
  output.flushSync();
  assert.deepEqual([file.failures, output.takeDropped()], [1, 1]);
});

test('a reader that stalls delays the end of a process for a second at most', () => {
  let tries = 0;
  const busy = () => {
    tries += 1;
    throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
  };
  const output = createLogOutput(1, { write: () => {}, writeSync: busy });
  output.write('last\n');
  output.flushSync();
  assert.deepEqual([tries, output.failure(), output.takeDropped()], [11, 'EAGAIN', 1]);
});

test('a process whose log is on a full device continues, and ends when its work is done', () => {
  const module = JSON.stringify(new URL('../../../src/platform/log/log.js', import.meta.url).href);
  const script = `import { createLog } from ${module};
const log = createLog({ level: 'info', path: '/dev/full' });
log.info('first');
const timer = setInterval(() => {
  if (log.output.failure() === undefined) return;
  clearInterval(timer);
  log.fatal('last');
  console.log(log.output.failure(), log.output.takeDropped());
}, 10);`;
  const { stdout, status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (process.platform === 'linux') assert.deepEqual([stdout, status, stderr], ['ENOSPC 2\n', 0, '']);
});
