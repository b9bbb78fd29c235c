import type { UsedApiKey } from '../../api/contract.ts';

/** The state decides if the service accepts a key. */
export function stateOf({ revokeTime, expireTime }: Pick<UsedApiKey, 'revokeTime' | 'expireTime'>) {
  if (revokeTime !== null) return 'revoked';
  return expireTime === null || expireTime > Date.now() ? 'active' : 'expired';
}
