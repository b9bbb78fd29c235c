/**
 * Returns the middle value, or the mean of the two middle ones. NaN for no
 * values.
 */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/**
 * Returns the value below which `percent` of the values lie, interpolated
 * between two neighbors. NaN for no values.
 */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = ((sorted.length - 1) * percent) / 100;
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below === above ? below : below + (above - below) * (place - Math.floor(place));
}
