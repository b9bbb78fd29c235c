import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askTogether } from '../../src/stores/ask-together.ts';

function counting() {
  const asked: (readonly number[])[] = [];
  const ask = askTogether((questions: readonly number[]) => {
    asked.push(questions);
    return Promise.resolve(questions.map((question) => question * 10));
  });
  return { asked, ask };
}

test('questions of one turn are asked together, and each gets its own answer', async () => {
  const { asked, ask } = counting();
  assert.deepEqual(await Promise.all([ask(1), ask(2), ask(3)]), [10, 20, 30]);
  assert.deepEqual(asked, [[1, 2, 3]]);
});

test('a question of a later turn does not wait for the answer to an earlier one', async () => {
  let answerFirst: (answers: readonly string[]) => void = () => assert.fail('nothing was asked');
  const pending = new Promise<readonly string[]>((resolve) => (answerFirst = resolve));
  const ask = askTogether((questions: readonly string[]) =>
    questions[0] === 'first' ? pending : Promise.resolve(['second answer']),
  );
  const first = ask('first');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await ask('second'), 'second answer');
  answerFirst(['first answer']);
  assert.equal(await first, 'first answer');
});

test('a statement is asked no more than a hundred questions', async () => {
  const { asked, ask } = counting();
  const answers = await Promise.all(Array.from({ length: 250 }, (_, index) => ask(index)));
  assert.deepEqual(
    asked.map((questions) => questions.length),
    [100, 100, 50],
  );
  assert.deepEqual(
    answers,
    Array.from({ length: 250 }, (_, index) => index * 10),
  );
});

test('what a statement fails with reaches everyone who was asked for in it, and nobody after', async () => {
  let isAway = true;
  const ask = askTogether((questions: readonly number[]) =>
    isAway ? Promise.reject(new Error('away')) : Promise.resolve(questions),
  );
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  isAway = false;
  assert.equal(await ask(3), 3);
});

test('answers that do not match the questions are nobody’s', async () => {
  const ask = askTogether((_questions: readonly number[]) => Promise.resolve([1]));
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
});
