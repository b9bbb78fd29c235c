import type { ApiKey } from '../../api/contract.ts';

/** A key that is accepted now. */
export function isActive({ revokeTime, expireTime }: Pick<ApiKey, 'revokeTime' | 'expireTime'>): boolean {
  return revokeTime === null && (expireTime === null || expireTime > Date.now());
}
