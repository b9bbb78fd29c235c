import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleCards } from '../../../../src/providers/preview/titles/title-cards.ts';

const times = (seconds: number) => ({ filmFrames: seconds * 24, framesPerSecond: 24, longestStretch: 2 });

test('a short prompt is one title, unchanged', () => {
  assert.deepEqual(
    titleCards('A paper boat.', times(5)).map(({ text }) => text),
    ['A paper boat.'],
  );
});

test('nothing to say gives no title', () => {
  assert.deepEqual(titleCards('', times(5)), []);
});

test('titles follow one another within the film, each long enough to be read', () => {
  const prompt = 'The first sentence is here. The second one follows at once, with a clause. A third one ends it all.';
  for (const seconds of [4, 5, 9, 15]) {
    let free = 0;
    for (const { text, fromFrame, frames } of titleCards(prompt, times(seconds))) {
      assert.ok(fromFrame >= free, 'titles overlap');
      assert.ok(frames / 24 >= text.length / 18, `${text} is there for ${frames} frames`);
      free = fromFrame + frames;
    }
    assert.ok(free > 0 && free <= seconds * 24);
  }
});

test('a title ends with a sentence or clause where one is near', () => {
  const prompt =
    'Rain falls on the quiet harbour. Gulls circle over the boats, while a fisherman mends his nets in silence.';
  const texts = titleCards(prompt, times(15)).map(({ text }) => text);
  assert.deepEqual(texts, [
    'Rain falls on the quiet harbour.',
    'Gulls circle over the boats',
    'while a fisherman mends his nets in silence.',
  ]);
});

test('what does not fit is left out and the last title says so', () => {
  for (const prompt of ['word '.repeat(1000).trim(), 'w'.repeat(5000), 'a. '.repeat(1600).trim()]) {
    const cards = titleCards(prompt, times(15));
    assert.match(cards.at(-1)?.text ?? '', /[^.\s]…$/);
    for (const { text } of cards) assert.ok(Array.from(text).length <= 73);
  }
});
