/** Their name of a model, and ours. */
const aliases: readonly (readonly [theirs: string, ours: string])[] = [
  ['bytedance/seedance-2', 'videogen-2.0'],
  ['bytedance/seedance-2-fast', 'videogen-2.0-fast'],
];

/** Our name of a model; a name without an alias is left as it is, and judged like any other. */
export function ourModel(name: string): string {
  return aliases.find(([theirs]) => theirs === name)?.[1] ?? name;
}

/** The name by which the dialect's clients know a model of ours. */
export function theirModel(name: string): string {
  return aliases.find(([, ours]) => ours === name)?.[0] ?? name;
}
