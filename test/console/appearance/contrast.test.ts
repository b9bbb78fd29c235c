import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// Every color of the console is a token with a light and a dark value, so contrast is checked once, on the tokens. Axe checks it again on
// the pages: in the light window, and in all windows in the tier `long`.

const themes = ['light', 'dark'] as const;
type Colors = Readonly<Record<(typeof themes)[number], string>>;

const tokens = new Map<string, Colors>();
for (const [, name = '', light = '', other] of readFileSync('src/console/styles/tokens.css', 'utf8').matchAll(
  /^ {2}--([\w-]+): (?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6})\))?;$/gm,
))
  tokens.set(name, { light, dark: other ?? light });

/** What text stands on. */
const surfaces = ['back', 'sunken', 'raised', 'hover'];

/** The colors of text, and what each stands on. */
const texts: Readonly<Record<string, readonly string[]>> = {
  text: [...surfaces, 'pressed', 'button', 'accent-soft', 'good-soft', 'bad-soft', 'warn-soft', 'calm-soft'],
  'text-soft': [...surfaces, 'button', 'accent-soft', 'calm-soft'],
  'text-faint': surfaces,
  accent: [...surfaces, 'accent-soft'],
  good: [...surfaces, 'good-soft'],
  bad: [...surfaces, 'bad-soft'],
  warn: [...surfaces, 'warn-soft'],
  calm: [...surfaces, 'calm-soft'],
  'on-accent': ['accent-fill', 'accent-fill-hover', 'bad-fill'],
};

/** Edges of controls and lines of charts, which are no text. */
const shapes: Readonly<Record<string, readonly string[]>> = {
  'line-strong': ['back', 'raised'],
  ...Object.fromEntries([1, 2, 3, 4, 5].map((series) => [`series-${series}`, ['back', 'raised']])),
};

/** Lines that only decorate; whatever they separate is also told apart by its place. */
const decorations = ['line', 'button-line'];

for (const theme of themes) {
  test(`text has a contrast of at least 4.5 in the ${theme} theme, edges and lines of at least 3`, () => {
    const found = [...tooWeak(texts, 4.5, theme), ...tooWeak(shapes, 3, theme)];
    assert.deepEqual(found, []);
  });
}

test('each color is checked', () => {
  const pairs = [...Object.entries(texts), ...Object.entries(shapes)];
  const checked = new Set([...pairs.flatMap(([front, backs]) => [front, ...backs]), ...decorations]);
  assert.deepEqual([...tokens.keys()].toSorted(), [...checked].toSorted());
});

function tooWeak(pairs: Readonly<Record<string, readonly string[]>>, least: number, theme: keyof Colors) {
  return Object.entries(pairs).flatMap(([front, backs]) =>
    backs
      .map((back) => ({ front, back, contrast: contrastOf(colorOf(front, theme), colorOf(back, theme)) }))
      .filter(({ contrast }) => contrast < least),
  );
}

function colorOf(name: string, theme: keyof Colors): string {
  const colors = tokens.get(name);
  assert.ok(colors, `no color --${name}`);
  return colors[theme];
}

/** As WCAG 2 defines it, from 1 to 21. */
function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
