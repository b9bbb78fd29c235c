/** In which words an API key's clients speak: our own, or those of the API that ours descends from (docs/dialect-kie.md). */
export const dialects = ['native', 'kie'] as const;
export type Dialect = (typeof dialects)[number];
