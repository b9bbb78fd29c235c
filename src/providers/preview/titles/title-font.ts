import { createRequire } from 'node:module';
import type * as fontkit from 'fontkit';

const packages = createRequire(import.meta.url);
const fonts = new Map<string, fontkit.Font>();

/** Inter, which npm ships as files under the Open Font License; each weight is read once per process. */
export function titleFont(weight: '600SemiBold' | '700Bold'): fontkit.Font {
  const known = fonts.get(weight);
  if (known !== undefined) return known;
  // A sixth of a second of tables, which a process wants when it draws its first title and not when it starts. The cast names
  // what the package's own types say of it.
  const { openSync } = packages('fontkit') as typeof fontkit;
  const opened = openSync(packages.resolve(`@expo-google-fonts/inter/${weight}/Inter_${weight}.ttf`));
  if (!('layout' in opened)) throw new Error(`the font Inter ${weight} is a collection, not a single font`);
  fonts.set(weight, opened);
  return opened;
}
