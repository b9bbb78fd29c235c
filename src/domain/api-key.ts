export const scopes = ['tasks:write', 'tasks:read', 'credits:read'] as const;
export type Scope = (typeof scopes)[number];

/** Who is calling, once a key has been recognised. */
export type Caller = {
  readonly keyId: string;
  readonly accountId: string;
  readonly scopes: readonly Scope[];
  readonly suspended: boolean;
};
