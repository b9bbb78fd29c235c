/** The permissions of a key. `keys:write` creates, lists and revokes the keys of its account. */
export const scopes = [
  'tasks:write',
  'tasks:read',
  'credits:read',
  'callbacks:secret',
  'content:delete',
  'keys:write',
] as const;
export type Scope = (typeof scopes)[number];

/**
 * The scopes of a new key by default. The others forge callbacks, destroy content or create keys, so a key gets them only when they are
 * named, and only from a person who has re-authenticated.
 */
export const ordinaryScopes: readonly Scope[] = ['tasks:write', 'tasks:read', 'credits:read'];

/** In which words an API key's clients speak: our own, or those of the API that ours descends from (docs/dialect-kie.md). */
export const dialects = ['native', 'kie'] as const;
export type Dialect = (typeof dialects)[number];

/** A key, or a person in the console; `isRecent`: the person has authenticated a short while ago. */
export type CalledBy =
  | { readonly kind: 'key'; readonly keyId: string }
  | {
      readonly kind: 'person';
      readonly userId: string;
      readonly email: string;
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
