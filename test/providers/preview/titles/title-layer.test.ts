import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameSizes } from '../../../../src/domain/frame-size.ts';
import { drawableText } from '../../../../src/providers/preview/titles/drawable-text.ts';
import { titleFont } from '../../../../src/providers/preview/titles/title-font.ts';
import { titleLayer } from '../../../../src/providers/preview/titles/title-layer.ts';
import { wrapTitle } from '../../../../src/providers/preview/titles/wrap-title.ts';

const font = titleFont('700Bold');
const box = { widthPx: 604, heightPx: 790, sizesPx: [96, 72, 42] };

test('letters stay inside the safe margins in every ratio, also for the widest text', () => {
  for (const frame of Object.values(frameSizes)) {
    for (const text of [
      'Hi',
      'W'.repeat(72),
      'wide words that fill line after line of this large title box'.slice(0, 72),
    ]) {
      for (const onPictures of [false, true]) {
        const ink = inkedArea(titleLayer(text, frame, onPictures));
        assert.ok(ink.left >= 50 && ink.right <= frame.widthPx - 50, `${text}: ${JSON.stringify(ink)}`);
        assert.ok(
          ink.top >= 0.08 * frame.heightPx && ink.bottom <= 0.94 * frame.heightPx,
          `${text}: ${JSON.stringify(ink)}`,
        );
      }
    }
  }
});

test('characters that the font lacks are left out, never drawn as boxes', () => {
  assert.equal(drawableText(font, 'A fox \u{1F98A} and 狐, a boat\u200B!'), 'A fox and a boat!');
  assert.equal(drawableText(font, 'Привет, Ελλάδα, Việt Nam'), 'Привет, Ελλάδα, Việt Nam');
  assert.equal(drawableText(font, 'a\u202E\u0000 \n\t b'), 'a b');
});

test('a text of which nothing is left to say gives no title', () => {
  for (const text of ['', '\u{1F98A}\u{1F469}\u200D\u{1F680}', '漢字、仮名。', '... — !'])
    assert.equal(drawableText(font, text), '');
});

test('a line holds no more than its width, also when a word must be broken', () => {
  const { lines } = wrapTitle(font, `short ${'m'.repeat(60)} end`, box);
  assert.equal(lines.join('').replaceAll(' ', ''), `short${'m'.repeat(60)}end`);
  for (const line of lines) {
    assert.ok((font.layout(line).advanceWidth / font.unitsPerEm) * 42 * 0.97 <= box.widthPx, line);
  }
});

test('no word is left alone on the last line where the lines can be evened out', () => {
  const { lines } = wrapTitle(font, 'Golden hour over the desert', { ...box, widthPx: 900 });
  assert.deepEqual(lines, ['Golden hour', 'over the desert']);
});

/** Where the layer is white, in pixels of the frame. */
function inkedArea({ widthPx, heightPx, rgba, leftPx, topPx }: ReturnType<typeof titleLayer>) {
  const area = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (let i = 0; i < widthPx * heightPx; i++) {
    if ((rgba[4 * i] ?? 0) < 200 || (rgba[4 * i + 3] ?? 0) < 200) continue;
    const [x, y] = [leftPx + (i % widthPx), topPx + Math.floor(i / widthPx)];
    area.left = Math.min(area.left, x);
    area.right = Math.max(area.right, x);
    area.top = Math.min(area.top, y);
    area.bottom = Math.max(area.bottom, y);
  }
  return area;
}
