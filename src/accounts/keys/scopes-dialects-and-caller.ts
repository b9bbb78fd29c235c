/** `keys:write` also lists keys. */
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
 * The default scopes of a new key. The others can forge callbacks, delete content or create keys, so they must be named, and people must
 * re-authenticate to grant them.
 */
export const ordinaryScopes: readonly Scope[] = ['tasks:write', 'tasks:read', 'credits:read'];

/** The spelling of requests and records: our own, or kie.ai's (docs/dialect-kie.md). */
export const dialects = ['native', 'kie'] as const;
export type Dialect = (typeof dialects)[number];

/** A key, or a person in the console; `isRecent`: the person authenticated recently. */
export type CalledBy =
  | { readonly kind: 'key'; readonly keyId: string }
  | {
      readonly kind: 'person';
      readonly userId: string;
      readonly email: string;
      readonly isRecent: boolean;
    };

export type Caller = {
  readonly by: CalledBy;
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly suspended: boolean;
  readonly dialect: Dialect;
  /** The models that its key may use; undefined for all. */
  readonly models?: readonly string[] | undefined;
  /** Identical creates within a minute are one task. */
  readonly mergeRepeats?: boolean | undefined;
};
