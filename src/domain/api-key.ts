/** What a key may be allowed to do. `keys:write` makes, lists and revokes the keys of its account. */
export const scopes = ['tasks:write', 'tasks:read', 'credits:read', 'keys:write'] as const;
export type Scope = (typeof scopes)[number];

/** What a key is allowed unless somebody says otherwise: all but making other keys. */
export const ordinaryScopes: readonly Scope[] = scopes.filter((scope) => scope !== 'keys:write');

/** In which words an API key's clients speak: our own, or those of the API that ours descends from (docs/dialect-kie.md). */
export const dialects = ['native', 'kie'] as const;
export type Dialect = (typeof dialects)[number];

/** A key, or a person in the console; of a person also whether they own the account, and have proved who they are a short while ago. */
export type CalledBy =
  | { readonly kind: 'key'; readonly keyId: string }
  | {
      readonly kind: 'person';
      readonly userId: string;
      readonly email: string;
      readonly isOwner: boolean;
      readonly isRecent: boolean;
    };

/** Who is calling for an account, once a key or a session has been recognised. */
export type Caller = {
  readonly by: CalledBy;
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly suspended: boolean;
  readonly dialect: Dialect;
};
