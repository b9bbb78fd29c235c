import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { spellImageReferences } from '../../src/providers/requests/placeholder-values-and-template-media.ts';

const cases: readonly (readonly [title: string, prompt: string, expected: string])[] = [
  ['both spellings are understood', '@Image1 meets [Image2]', '<1> meets <2>'],
  ['case and one space do not matter', '@image 1, [IMAGE 2], @IMAGE2', '<1>, <2>, <2>'],
  ['a neighbour in another script is no part of it', '让@Image1跳舞', '让<1>跳舞'],
  ['an image that was not sent is plain text', '@Image3 and [Image9]', '@Image3 and [Image9]'],
  ['there is no image 0', '@Image0', '@Image0'],
  ['a longer number is another one', '@Image12 [Image12]', '@Image12 [Image12]'],
  ['an address is none', 'me@image1.example, @Image1st', 'me@image1.example, @Image1st'],
  ['an open bracket is none', '[Image1 and so on', '[Image1 and so on'],
  ['a possessive is one', "@Image1's hat", "<1>'s hat"],
];

describe('references to images in a prompt', () => {
  for (const [title, prompt, expected] of cases) {
    test(title, () => assert.equal(spellImageReferences(prompt, 2, '<{n}>'), expected));
  }

  test('the spelling may name the number twice, and means no pattern', () => {
    assert.equal(spellImageReferences('@Image1', 1, '$& {n}/{n}'), '$& 1/1');
  });
});
