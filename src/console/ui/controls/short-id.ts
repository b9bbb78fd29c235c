/** The end of an ID distinguishes it from its neighbors: it begins with the time of its creation. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}
