import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { createLog } from '../../../src/platform/log/log.ts';
import { retryStartStep } from '../../../src/platform/timing/retry-start-step.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { mockTimers } from '../../support/mock-timers.ts';

const step = 'reach the server';
const log = createLog({ level: 'silent' });
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('a step is retried until it succeeds, and the terminal shows one message', async () => {
  const messages: string[] = [];
  let attempts = 0;
  const { signal } = new AbortController();
  const answer = await retryStartStep({ step, log, signal, onFirstFailure: (message) => messages.push(message) }, () =>
    (attempts += 1) < 3 ? Promise.reject(attempts === 1 ? refused() : new Error('not yet')) : Promise.resolve('there'),
  );
  assert.deepEqual([answer, attempts], ['there', 3]);
  assert.deepEqual(messages, ['Could not reach the server yet (connect ECONNREFUSED); trying again.']);
});

for (const [what, error, isRepeated] of [
  ['a bug', new TypeError('x is not a function'), false],
  ['a name that is not defined', new ReferenceError('x is not defined'), false],
  ['a file that cannot be parsed', new SyntaxError('Unexpected token'), false],
  ['a row that is there already', Object.assign(new Error('duplicate'), { code: '23505' }), false],
  ['a connection that PostgreSQL lost', Object.assign(new Error('lost'), { code: '08006' }), true],
  ['a full disk', Object.assign(new Error('full'), { code: '53100' }), true],
  ['a disk that fails PostgreSQL', Object.assign(new Error('could not read'), { code: '58030' }), true],
  ['an error without a code', new Error('not yet'), true],
  ['a password that PostgreSQL refuses', Object.assign(new Error('wrong'), { code: '28P01' }), false],
  ['a PostgreSQL that is starting', Object.assign(new Error('starting'), { code: '57P03' }), true],
  ['a pipe that broke', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }), true],
] as const) {
  test(`${what} is ${isRepeated ? '' : 'not '}repeated`, async () => {
    const { signal } = new AbortController();
    let attempts = 0;
    const first = () => ((attempts += 1) === 1 ? Promise.reject(error) : Promise.resolve());
    const retried = retryStartStep({ step, log, signal }, first);
    await (isRepeated ? retried : assert.rejects(retried, error));
    assert.equal(attempts, isRepeated ? 2 : 1);
  });
}

test('the log has each failure with the pause after it, and the success only of a step that failed before', async () => {
  const lines: Record<string, unknown>[] = [];
  const noting = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  const { signal } = new AbortController();
  let attempts = 0;
  const attempt = () => ((attempts += 1) < 2 ? Promise.reject(refused()) : Promise.resolve());
  await retryStartStep({ step, log: noting, signal }, attempt);
  await retryStartStep({ step: 'another', log: noting, signal }, attempt);
  assert.deepEqual(
    lines.map(({ time: _time, err, ...fields }) => [fields, err && (err as Error).message]), // as describeErrorForLog has it
    [
      [{ level: 40, step, attempts: 1, pauseMs: 250, msg: 'start step failed; it is retried' }, refused().message],
      [{ level: 30, step, attempts: 2, msg: 'start step succeeded' }, undefined],
    ],
  );
});

test('an attempt that never answers does not hold up the end', async () => {
  const stopping = new AbortController();
  const retried = retryStartStep({ step, log, signal: stopping.signal }, () => new Promise<never>(() => {}));
  stopping.abort(new Error('stopped'));
  await assert.rejects(retried, /stopped/);
});

test('the pauses between attempts double up to ten seconds', async (t) => {
  mockTimers(t, { apis: ['setTimeout'] });
  const { signal } = new AbortController();
  const pauses = [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000];
  let attempts = 0;
  const retried = retryStartStep({ step, log, signal }, () =>
    (attempts += 1) > pauses.length ? Promise.resolve() : Promise.reject(refused()),
  );
  for (const [index, pauseMs] of pauses.entries()) {
    await untilTurn('the attempt', () => attempts === index + 1);
    await nextTurn();
    t.mock.timers.tick(pauseMs - 1);
    await nextTurn();
    assert.equal(attempts, index + 1);
    t.mock.timers.tick(1);
  }
  await retried;
});

test('nothing is attempted after the end, and a pause ends with it', async () => {
  const stopping = new AbortController();
  let attempts = 0;
  const attempt = () => {
    attempts += 1;
    // The pause has begun by then.
    setImmediate(() => stopping.abort(new Error('stopped')));
    return Promise.reject(refused());
  };
  await assert.rejects(retryStartStep({ step, log, signal: stopping.signal }, attempt), { name: 'AbortError' });
  await assert.rejects(retryStartStep({ step, log, signal: stopping.signal }, attempt), /stopped/);
  assert.equal(attempts, 1);
});
