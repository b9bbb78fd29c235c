import { ordinaryScopes, type Scope, scopes } from '../keys/scopes-dialects-and-caller.ts';

/** Roles in an account. Each includes the rights of those after it. */
export const roles = ['owner', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** The scopes of each role in the API. Owners also manage members. */
export const scopesByRole: Readonly<Record<Role, readonly Scope[]>> = {
  owner: scopes,
  member: ordinaryScopes,
  viewer: ['tasks:read', 'credits:read'],
};
