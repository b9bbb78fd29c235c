import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/platform/log/log.ts';
import { retryStartStep } from '../../../src/platform/timing/retry-start-step.ts';

const step = 'reach the server';
const log = createLog({ level: 'silent' });
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('a step is retried until it succeeds, and the terminal shows one message', async () => {
  const messages: string[] = [];
  let attempts = 0;
  const { signal } = new AbortController();
  const answer = await retryStartStep({ step, log, signal, onFirstFailure: (message) => messages.push(message) }, () =>
    (attempts += 1) < 3 ? Promise.reject(refused()) : Promise.resolve('there'),
  );
  assert.deepEqual([answer, attempts], ['there', 3]);
  assert.deepEqual(messages, ['Could not reach the server yet (connect ECONNREFUSED); trying again.']);
});

for (const [what, error, isRepeated] of [
  ['a bug', new TypeError('x is not a function'), false],
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

test('an attempt that never answers does not hold up the end', async () => {
  const stopping = new AbortController();
  const retried = retryStartStep({ step, log, signal: stopping.signal }, () => new Promise<never>(() => {}));
  stopping.abort(new Error('stopped'));
  await assert.rejects(retried, /stopped/);
});
