import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleCards } from '../../../../src/providers/preview/titles/title-cards.ts';

const textsOf = (text: string, seconds: number) => titleCards(text, 24 * seconds).map((card) => card.text);

test('a short prompt is one title, unchanged', () => {
  assert.deepEqual(textsOf('A paper boat.', 5), ['A paper boat.']);
});

test('nothing to say gives no title', () => {
  assert.deepEqual(titleCards('', 120), []);
});

test('twenty words fit one title of the shortest film', () => {
  const prompt =
    'A lighthouse in a storm, waves breaking over the rocks, seagulls wheeling in the wind, slow dolly shot at dusk';
  assert.deepEqual(textsOf(prompt, 4), [prompt]);
});

test('titles follow one another within the film, each long enough to be read', () => {
  const prompt =
    'The first sentence is here. The second one follows at once, with a clause. A third one ends it all. '.repeat(4);
  for (const seconds of [4, 5, 9, 15]) {
    let free = 0;
    for (const { text, fromFrame, frames } of titleCards(prompt, 24 * seconds)) {
      assert.ok(fromFrame >= free, 'titles overlap');
      assert.ok(frames / 24 >= text.length / 40, `${text} is there for ${frames} frames`);
      free = fromFrame + frames;
    }
    assert.ok(free > 0 && free <= seconds * 24);
  }
});

test('a title ends with a sentence or clause where one is near', () => {
  const prompt =
    'Rain falls on the quiet harbour, where the fishing boats lie side by side in the dark. Gulls circle over the boats and the masts of the old schooner, while a fisherman mends his nets in silence.';
  assert.deepEqual(textsOf(prompt, 15), [
    'Rain falls on the quiet harbour, where the fishing boats lie side by side in the dark.',
    'Gulls circle over the boats and the masts of the old schooner, while a fisherman mends his nets in silence.',
  ]);
});

test('what does not fit is left out and the last title says so', () => {
  for (const prompt of ['word '.repeat(1000).trim(), 'w'.repeat(5000), 'a. '.repeat(1600).trim()]) {
    const texts = textsOf(prompt, 15);
    assert.match(texts.at(-1) ?? '', /[^.\s]…$/);
    for (const text of texts) assert.ok(Array.from(text).length <= 131);
  }
});
