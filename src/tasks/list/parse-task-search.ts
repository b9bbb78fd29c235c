import { validate as isUuid } from 'uuid';

// A search for tasks: part of an id, words of the prompt, or both ("cafe" may be either).

export const maxSearchLength = 200;
/** Fewer characters are in too many ids. */
export const minIdPartLength = 4;
const maxWords = 10;

const idPartPattern = new RegExp(`^[0-9a-f-]{${minIdPartLength},35}$`);

export type TaskSearch = {
  /** A whole id, which an index finds. */
  readonly taskId: string | undefined;
  /** Lower case; undefined if the text cannot be part of an id. */
  readonly idPart: string | undefined;
  /** A tsquery that requires all words; the last one may be a prefix. Undefined without words. */
  readonly words: string | undefined;
};

export function parseTaskSearch(text: string, { searchesPrompts }: { readonly searchesPrompts: boolean }): TaskSearch {
  const lower = text.trim().toLowerCase();
  const taskId = isUuid(lower) ? lower : undefined;
  const idPart = idPartPattern.test(lower) ? lower : undefined;
  // Letters and digits cannot be operators of a tsquery.
  const words = searchesPrompts ? (lower.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, maxWords) : [];
  const last = words.length - 1;
  const query = words.map((word, index) => (index === last ? `${word}:*` : word)).join(' & ');
  return { taskId, idPart, words: query === '' ? undefined : query };
}
