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

type Write = { readonly text: string; readonly done: (error: Error | null, written: number) => void };

/** Calls that the test answers. */
function held() {
  const writes: Write[] = [];
  const sync: string[] = [];
  const calls: WriteCalls = {
    write: (_fd, bytes, done) => void writes.push({ text: Buffer.from(bytes).toString(), done }),
    writeSync: (_fd, bytes) => {
      const part = bytes.subarray(0, 3);
      sync.push(Buffer.from(part).toString());
      return part.length;
    },
  };
  return { writes, sync, output: createLogOutput(1, calls) };
}

test('lines wait for each other up to 100 ms or 4 KiB, and one write is under way at a time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { writes, output } = held();
  const texts = () => writes.map(({ text }) => text);
  output.write('a\n');
  output.write('b\n');
  t.mock.timers.tick(99);
  assert.deepEqual(texts(), []);
  t.mock.timers.tick(1);
  assert.deepEqual(texts(), ['a\nb\n']);
  output.write('c\n');
  output.write('x'.repeat(4_094));
  t.mock.timers.tick(1_000);
  assert.equal(writes.length, 1);
  writes[0]?.done(null, 4);
  assert.deepEqual(texts().slice(1), [`c\n${'x'.repeat(4_094)}`]);
  writes[1]?.done(null, 4_096);
  output.write('y'.repeat(4_095));
  assert.equal(writes.length, 2);
  output.write('z');
  assert.deepEqual(texts().slice(2), [`${'y'.repeat(4_095)}z`]);
  assert.deepEqual([output.failure(), output.takeDropped()], [undefined, 0]);
});

test('a reader that is busy or slow gets every byte in the end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { writes, output } = held();
  output.write('first\n');
  t.mock.timers.tick(100);
  writes[0]?.done(null, 2);
  assert.equal(writes[1]?.text, 'rst\n');
  for (const [index, code] of ['EAGAIN', 'EBUSY'].entries()) {
    writes[index + 1]?.done(Object.assign(new Error('busy'), { code }), 0);
    assert.equal(writes.length, index + 2);
    t.mock.timers.tick(100);
    assert.equal(writes[index + 2]?.text, 'rst\n');
  }
  writes[3]?.done(null, 4);
  assert.deepEqual([output.failure(), output.takeDropped(), writes.length], [undefined, 0, 4]);
});

test('lines beyond 16 MiB are dropped and counted while the reader stalls', () => {
  const { writes, output } = held();
  output.write('a'.repeat(4_096));
  output.write('b'.repeat(16 * 1024 * 1024 - 1));
  output.write('c');
  assert.equal(output.takeDropped(), 0);
  output.write('d');
  output.write('e');
  assert.deepEqual([output.takeDropped(), writes.length], [2, 1]);
  writes[0]?.done(null, 4_096);
  assert.equal(writes[1]?.text.length, 16 * 1024 * 1024);
  output.write('f');
  assert.equal(output.takeDropped(), 0);
  output.flushSync();
});

test('the end of a process writes what waits, part by part, and a write under way keeps its own lines', () => {
  const { writes, sync, output } = held();
  output.write('a'.repeat(4_096));
  output.write('bcde\n');
  output.write('fg\n');
  output.flushSync();
  output.flushSync();
  assert.deepEqual(sync, ['bcd', 'e\nf', 'g\n']);
  writes[0]?.done(full(), 0);
  assert.deepEqual([output.failure(), output.takeDropped()], ['ENOSPC', 1]);
});
