// A search for tasks: part of an id, words of the prompt, or both ("cafe" may be either).

export const maxSearchLength = 200;
const maxWords = 10;

export type TaskSearch = {
  /** Lower case; undefined if the text cannot be part of an id. */
  readonly idPart: string | undefined;
  /** A tsquery that requires all words; the last one may be a prefix. Undefined without words. */
  readonly words: string | undefined;
};

export function taskSearch(text: string, { searchesPrompts }: { readonly searchesPrompts: boolean }): TaskSearch {
  const lower = text.trim().toLowerCase();
  const idPart = /^[0-9a-f-]{1,36}$/.test(lower) ? lower : undefined;
  // Letters and digits cannot be operators of a tsquery.
  const words = searchesPrompts ? (lower.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, maxWords) : [];
  const last = words.length - 1;
  const query = words.map((word, index) => (index === last ? `${word}:*` : word)).join(' & ');
  return { idPart, words: query === '' ? undefined : query };
}
