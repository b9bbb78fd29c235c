import { ordinaryScopes, type Scope, scopes } from './api-key.ts';

/** What a person is in an account; the first may do most, and each what those after it may. */
export const roles = ['owner', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** What each role may do with the API: the scopes that a key would need. Owners also manage members. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  owner: scopes,
  member: ordinaryScopes,
  viewer: ['tasks:read', 'credits:read'],
};
