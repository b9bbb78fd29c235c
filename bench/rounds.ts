/** Odd, so that a median is a value that was measured. */
const rounds = 3;

/**
 * Runs several measurements in turns, `rounds` times each, every other round backwards: whatever drifts on the machine meanwhile
 * meets them all alike. Answers what each measured.
 */
export async function interleaved<Name extends string, T>(
  measurements: Readonly<Record<Name, () => Promise<T>>>,
): Promise<Record<Name, T[]>> {
  // Object.keys forgets the names' type; the record has no others.
  const names = Object.keys(measurements) as Name[];
  const results = Object.fromEntries(names.map((name): [Name, T[]] => [name, []])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) results[name].push(await measurements[name]());
  }
  return results;
}
