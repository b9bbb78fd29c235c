import type { UsedApiKey } from '../../api/contract.ts';

/** Whether a key is accepted now, and why not. */
export function stateOf({ revokeTime, expireTime }: Pick<UsedApiKey, 'revokeTime' | 'expireTime'>) {
  if (revokeTime !== null) return 'revoked';
  return expireTime === null || expireTime > Date.now() ? 'active' : 'expired';
}
