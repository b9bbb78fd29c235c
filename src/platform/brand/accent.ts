// The shades that the console derives from one accent color. Contrasts are those of WCAG 2: 4.5 for text.

/** Colors as `#rrggbb`, for light and dark pages. */
export type AccentShades = Readonly<
  Record<'text' | 'fill' | 'fillHover' | 'soft', readonly [light: string, dark: string]>
>;

type Rgb = readonly [red: number, green: number, blue: number];

const textContrast = 4.5;
/** Slightly more than required, because shades are rounded to whole numbers. */
const enough = textContrast + 0.1;
const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];
/** The backgrounds of colored text with the least contrast, in src/console/styles/tokens.css. */
const lightBack = rgbOf('#f1f3f6');
const darkBack = rgbOf('#1a1f26');

/** Throws if white text on the color is hard to read, and names the nearest shade on which it is not. */
export function parseAccentIntoShades(text: string): AccentShades {
  if (!/^#[\da-f]{6}$/i.test(text)) throw new Error('must be a color such as #2456d6');
  const given = rgbOf(text);
  const isEnoughWithWhite = (shade: Rgb) => contrastOf(shade, white) >= enough;
  const contrast = contrastOf(given, white);
  if (contrast < textContrast) {
    const nearest = hexOf(shadesBetween(given, black).find(isEnoughWithWhite) ?? black);
    throw new Error(
      `must have a contrast of ${textContrast} with white text, but has ${contrast.toFixed(1)}; ${nearest} has enough`,
    );
  }
  const softLight = mix(given, white, 0.92);
  const softDark = mix(given, darkBack, 0.8);
  // As light as white text allows, so that a button differs from a dark page.
  const fillDark = shadesBetween(given, white).findLast(isEnoughWithWhite) ?? given;
  const isReadable = (shade: Rgb, backs: readonly Rgb[]) => backs.every((back) => contrastOf(shade, back) >= enough);
  return {
    text: [
      hexOf(shadesBetween(given, black).find((shade) => isReadable(shade, [lightBack, softLight])) ?? black),
      hexOf(shadesBetween(given, white).find((shade) => isReadable(shade, [darkBack, softDark])) ?? white),
    ],
    fill: [hexOf(given), hexOf(fillDark)],
    fillHover: [hexOf(mix(given, black, 0.16)), hexOf(mix(fillDark, black, 0.14))],
    soft: [hexOf(softLight), hexOf(softDark)],
  };
}

/** The tokens of the console in these shades. */
export function accentStyle({ text, fill, fillHover, soft }: AccentShades): string {
  const tokens = { '--accent': text, '--accent-fill': fill, '--accent-fill-hover': fillHover, '--accent-soft': soft };
  const lines = Object.entries({ ...tokens, '--series-1': text }).map(
    ([name, [light, dark]]) => `${name}:light-dark(${light},${dark})`,
  );
  return `:root{${lines.join(';')}}\n`;
}

/** WCAG 2: from 1 for the same color to 21 for black and white. */
function contrastOf(one: Rgb, other: Rgb): number {
  const [a, b] = [luminanceOf(one), luminanceOf(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

export function contrastBetween(one: string, other: string): number {
  return contrastOf(rgbOf(one), rgbOf(other));
}

function luminanceOf(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb; // A map over three numbers has three.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns a hundred mixtures, from the color itself to almost the target. */
function shadesBetween(color: Rgb, target: Rgb): readonly Rgb[] {
  return Array.from({ length: 100 }, (_, percent) => mix(color, target, percent / 100));
}

function mix([red, green, blue]: Rgb, [toRed, toGreen, toBlue]: Rgb, share: number): Rgb {
  const between = (from: number, to: number) => Math.round(from + (to - from) * share);
  return [between(red, toRed), between(green, toGreen), between(blue, toBlue)];
}

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function hexOf(color: Rgb): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
