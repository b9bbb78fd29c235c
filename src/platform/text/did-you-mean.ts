import { distance } from 'fastest-levenshtein';

/**
 * Returns the nearest known name: `aspect_ratio` → `ratio`, `promt` → `prompt`. Ignores case and separators. At most a third of the letters
 * may differ, unless one name contains the other and both have four letters or more.
 */
export function findNearestName(unknown: string, known: readonly string[]): string | undefined {
  const plain = plainName(unknown);
  if (plain.length < 2 || plain.length > 64) return undefined;
  const ranked = known
    .map((name) => ({ name, score: nearness(plain, plainName(name)) }))
    .filter(({ score }) => score <= 1 / 3)
    .toSorted((a, b) => a.score - b.score);
  return ranked[0]?.name;
}

/** 0 for equal names, 1 for entirely different ones. */
function nearness(a: string, b: string): number {
  if (a === b) return 0;
  const letters = distance(a, b) / Math.max(a.length, b.length);
  const contained = Math.min(a.length, b.length) >= 4 && (a.includes(b) || b.includes(a));
  return contained ? Math.min(letters, 0.3) : letters;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

export function unknownNameMessage(what: string, name: string, known: readonly string[]): string {
  const meant = findNearestName(name, known);
  return `unknown ${what}, ${meant === undefined ? `allowed: ${known.join(', ')}` : `did you mean ${meant}?`}`;
}
