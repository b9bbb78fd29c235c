import { createRequire } from 'node:module';
import { openSync, type Font } from 'fontkit';

const require = createRequire(import.meta.url);
const fonts = new Map<string, Font>();

/** Inter, which npm ships as files under the Open Font License; each weight is read once per process. */
export function titleFont(weight: '600SemiBold' | '700Bold'): Font {
  const known = fonts.get(weight);
  if (known !== undefined) return known;
  const opened = openSync(require.resolve(`@expo-google-fonts/inter/${weight}/Inter_${weight}.ttf`));
  if (!('layout' in opened)) throw new Error(`the font Inter ${weight} is a collection, not a single font`);
  fonts.set(weight, opened);
  return opened;
}
