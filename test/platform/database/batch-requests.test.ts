import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatcher } from '../../../src/platform/database/batch-requests.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that answers when it is let go: which questions each statement took along. */
function slowStore(maxBatchSize: number, maxStatements: number) {
  const statements: (readonly string[])[] = [];
  const release: (() => void)[] = [];
  const load = createBatcher(
    async (questions: readonly string[]) => {
      statements.push(questions);
      await new Promise<void>((resolve) => release.push(resolve));
      return questions.map((question) => (question === 'bad' ? new Error('bad') : `${question}!`));
    },
    { maxBatchSize, maxStatements },
  );
  return { statements, release, load };
}

test('concurrent requests form one batch, and each gets its own result or error', async () => {
  const { statements, release, load } = slowStore(10, 1);
  const answers = Promise.allSettled(['a', 'bad', 'c', 'a'].map(load));
  await turn();
  release.shift()?.();
  assert.deepEqual(
    (await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason))),
    ['a!', 'Error: bad', 'c!', 'a!'],
  );
  assert.deepEqual(statements, [['a', 'bad', 'c', 'a']]);
});

test('so many statements run at the same time and no more, and what comes meanwhile goes into the next batch', async () => {
  const { statements, release, load } = slowStore(10, 2);
  const answers: Promise<string>[] = [];
  for (const question of ['a', 'b', 'c', 'd', 'e']) {
    answers.push(load(question));
    await turn();
  }
  assert.deepEqual(statements, [['a'], ['b']]);
  release.shift()?.();
  await turn();
  assert.deepEqual(statements, [['a'], ['b'], ['c', 'd', 'e']]);
  for (const free of release) free();
  assert.deepEqual(await Promise.all(answers), ['a!', 'b!', 'c!', 'd!', 'e!']);
});

test('no statement takes along more than it may', async () => {
  const { statements, release, load } = slowStore(2, 3);
  const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map(load));
  await turn();
  await turn();
  for (const free of release) free();
  await answers;
  assert.deepEqual(statements, [['a', 'b'], ['c', 'd'], ['e']]);
});

test('a statement that fails rejects the questions of its batch, and the next one runs', async () => {
  let isUnavailable = true;
  const load = createBatcher(
    async (questions: readonly string[]) => {
      await turn();
      if (isUnavailable) throw new Error('unreachable');
      return questions;
    },
    { maxBatchSize: 10, maxStatements: 1 },
  );
  await assert.rejects(Promise.all([load('a'), load('b')]), /unreachable/);
  isUnavailable = false;
  assert.equal(await load('c'), 'c');
});
