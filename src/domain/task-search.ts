// The text of a search among tasks: a part of an id, words of the prompt, or both, since "cafe" may be either.

export const maxSearchLength = 200;
/** Each word is looked up in the index. */
const maxWords = 10;

export type TaskSearch = {
  /** Lower case; undefined for a text that is no part of an id. */
  readonly idPart: string | undefined;
  /** A tsquery of PostgreSQL that wants all words; the last one may be unfinished. Undefined without words. */
  readonly words: string | undefined;
};

/** `searchesPrompts` is false where the installation has disabled that. */
export function taskSearch(text: string, { searchesPrompts }: { readonly searchesPrompts: boolean }): TaskSearch {
  const lower = text.trim().toLowerCase();
  const idPart = /^[0-9a-f-]{1,36}$/.test(lower) ? lower : undefined;
  // Letters and digits alone: nothing in them is an operator of a tsquery.
  const words = searchesPrompts ? (lower.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, maxWords) : [];
  const last = words.length - 1;
  const query = words.map((word, index) => (index === last ? `${word}:*` : word)).join(' & ');
  return { idPart, words: query === '' ? undefined : query };
}
