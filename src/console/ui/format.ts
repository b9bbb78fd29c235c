/** A formatter that is made at its first use: a browser's first one takes 30 to 75 ms, which no page should wait for to begin. */
export function formatter<Format>(make: () => Format): () => Format {
  let made: Format | undefined;
  return () => (made ??= make());
}
