import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { accentStyle, contrastBetween, parseAccentIntoShades } from '../../../src/platform/brand/accent.ts';

test('the contrast is that of WCAG: 21 for black on white, 4.48 for #777777', () => {
  assert.equal(contrastBetween('#000000', '#ffffff'), 21);
  assert.equal(contrastBetween('#777777', '#ffffff').toFixed(2), '4.48');
  // One primary color each, and two colors in the part of the scale that is linear.
  for (const [one, other, contrast] of [
    ['#ff0000', '#000000', '5.252'],
    ['#00ff00', '#000000', '15.304'],
    ['#0000ff', '#ffffff', '8.592'],
    ['#0a0a0a', '#0b0b0b', '1.006'],
  ] as const)
    assert.equal(contrastBetween(one, other).toFixed(3), contrast);
});

test('a color on which white text is hard to read is refused with a shade that is accepted', () => {
  for (const color of ['#ffcc00', '#ff7a00', '#777777', '#ffffff', '#00ffff']) {
    assert.throws(() => parseAccentIntoShades(color), /contrast of 4\.5 with white text/);
    const [, shade = ''] = /(#[\da-f]{6}) has enough/.exec(messageOf(color)) ?? [];
    assert.doesNotThrow(() => parseAccentIntoShades(shade), color);
  }
  for (const text of ['red', '#12345', '#12345g', 'rgb(1,2,3)'])
    assert.throws(() => parseAccentIntoShades(text), /such as #2456d6/);
});

test('the shades of an accent are the nearest to it that are readable', () => {
  for (const [color, text, fill, fillHover, soft] of [
    ['#2456d6', ['#2456d6', '#7191e4'], ['#2456d6', '#456fdc'], ['#1e48b4', '#3b5fbd'], ['#edf1fc', '#1c2a49']],
    ['#000000', ['#000000', '#878787'], ['#000000', '#757575'], ['#000000', '#656565'], ['#ebebeb', '#15191e']],
    ['#0f766e', ['#0f766e', '#5ca29c'], ['#0f766e', '#25827b'], ['#0d635c', '#20706a'], ['#ecf4f3', '#183034']],
  ] as const)
    assert.deepEqual(parseAccentIntoShades(color), { text, fill, fillHover, soft });
  assert.match(messageOf('#ffcc00'), /but has 1\.5; #8c7000 has enough$/);
  const rules = accentStyle(parseAccentIntoShades('#2456d6')).match(/--[\w-]+:light-dark\(#\w{6},#\w{6}\)/g);
  assert.deepEqual(rules, [
    '--accent:light-dark(#2456d6,#7191e4)',
    '--accent-fill:light-dark(#2456d6,#456fdc)',
    '--accent-fill-hover:light-dark(#1e48b4,#3b5fbd)',
    '--accent-soft:light-dark(#edf1fc,#1c2a49)',
    '--series-1:light-dark(#2456d6,#7191e4)',
  ]);
});

test('every derived shade is readable where the console uses it, in light and dark', () => {
  const tokens = readFileSync(new URL('../../../../src/console/styles/tokens.css', import.meta.url), 'utf8');
  const backs = ['back', 'sunken', 'raised', 'hover'].map((name) => {
    const [, light = '', dark = ''] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? [];
    return [light, dark] as const;
  });
  for (const color of ['#000000', '#001040', '#2456d6', '#0f766e', '#b3261e', '#6b21a8', '#8a5300', '#4b5563']) {
    const { text, fill, fillHover, soft } = parseAccentIntoShades(color);
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
    parseAccentIntoShades(color);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}
