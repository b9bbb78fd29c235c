import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTaskSearch } from '../../../src/tasks/list/parse-task-search.ts';

const parse = (text: string) => parseTaskSearch(text, { searchesPrompts: true });
const id = '01900000-0000-7000-8000-00000000cafe';

test('a search is a whole id, a part of one, words of the prompt, or what its text may be of these', () => {
  assert.deepEqual(parse(` ${id.toUpperCase()}\n`), {
    taskId: id,
    idPart: undefined,
    words: '01900000 & 0000 & 7000 & 8000 & 00000000cafe:*',
  });
  assert.deepEqual(parse(id.slice(1)), {
    taskId: undefined,
    idPart: id.slice(1),
    words: '1900000 & 0000 & 7000 & 8000 & 00000000cafe:*',
  });
  assert.deepEqual(parse('CAFE'), { taskId: undefined, idPart: 'cafe', words: 'cafe:*' });
  assert.deepEqual(parse('-00-'), { taskId: undefined, idPart: '-00-', words: '00:*' });
  assert.deepEqual(parse('----'), { taskId: undefined, idPart: '----', words: undefined });
  for (const [text, words] of [
    ['caf', 'caf:*'],
    ['cafeg', 'cafeg:*'],
    ['gcafe', 'gcafe:*'],
    ['cafe cafe', 'cafe & cafe:*'],
    [` A "Red" boat, n°2! `, 'a & red & boat & n & 2:*'],
    ['Straße | !東京', 'straße & 東京:*'],
    ['& | ! ( ) :*', undefined],
    ['', undefined],
  ])
    assert.deepEqual(parse(text ?? ''), { taskId: undefined, idPart: undefined, words }, text);
});

test('a search has ten words at most, and none where prompts are not searched', () => {
  const words = Array.from({ length: 11 }, (_, index) => `w${index}`);
  assert.equal(parse(words.join(' ')).words, `${words.slice(0, 10).join(' & ')}:*`);
  assert.equal(parse(words.slice(0, 10).join(' ')).words, `${words.slice(0, 10).join(' & ')}:*`);
  assert.deepEqual(parseTaskSearch('cafe', { searchesPrompts: false }), {
    taskId: undefined,
    idPart: 'cafe',
    words: undefined,
  });
});
