import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrastBetween, parseAccent } from '../../../src/platform/brand/accent.ts';

test('the contrast is that of WCAG: 21 for black on white, 4.48 for #777777', () => {
  assert.equal(contrastBetween('#000000', '#ffffff'), 21);
  assert.equal(contrastBetween('#777777', '#ffffff').toFixed(2), '4.48');
});

test('a color on which white text is hard to read is refused with a shade that is accepted', () => {
  for (const color of ['#ffcc00', '#ff7a00', '#777777', '#ffffff', '#00ffff']) {
    assert.throws(() => parseAccent(color), /contrast of 4\.5 with white text/);
    const [, shade = ''] = /(#[\da-f]{6}) has enough/.exec(messageOf(color)) ?? [];
    assert.doesNotThrow(() => parseAccent(shade), color);
  }
  for (const text of ['red', '#12345', '#12345g', 'rgb(1,2,3)'])
    assert.throws(() => parseAccent(text), /such as #2456d6/);
});

test('every derived shade is readable where the console uses it, in light and dark', () => {
  const tokens = readFileSync(new URL('../../../../src/console/styles/tokens.css', import.meta.url), 'utf8');
  const backs = ['back', 'sunken', 'raised', 'hover'].map((name) => {
    const [, light = '', dark = ''] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? [];
    return [light, dark] as const;
  });
  for (const color of ['#000000', '#001040', '#2456d6', '#0f766e', '#b3261e', '#6b21a8', '#8a5300', '#4b5563']) {
    const { text, fill, fillHover, soft } = parseAccent(color);
    for (const theme of [0, 1] as const) {
      for (const back of [...backs, soft]) {
        const contrast = contrastBetween(text[theme], back[theme]);
        assert.ok(contrast >= 4.5, `${color}: text ${text[theme]} on ${back[theme]} has ${contrast}`);
      }
      for (const button of [fill, fillHover])
        assert.ok(contrastBetween(button[theme], '#ffffff') >= 4.5, `${color}: white on ${button[theme]}`);
    }
    assert.ok(contrastBetween(fill[1], '#0f1216') >= 3, `${color}: ${fill[1]} differs from a dark page`);
  }
});

function messageOf(color: string): string {
  try {
    parseAccent(color);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}
